/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of jobs, parts, fabrics and users, and lists of them: see ctl_name.h. */
#include "common/control/ctl_name.h"

#include <errno.h>
#include <string.h>

int zctl_name_ok(const char *name)
{
	size_t n = 0;
	for (; name[n]; n++)
		if (n == ZCTL_NAME_MAX || !zctl_name_has_char((unsigned char)name[n]))
			return 0;
	return n > 0;
}

static int split(const char *parts, char (*name)[ZCTL_NAME_MAX + 1], int max)
{
	int n = 0;
	for (const char *p = parts;; p++) {
		size_t len = strcspn(p, ",");
		if (n == max || len == 0 || len > ZCTL_NAME_MAX)
			return -EINVAL;
		memcpy(name[n], p, len);
		name[n][len] = '\0';
		if (!zctl_name_ok(name[n]))
			return -EINVAL;
		for (int i = 0; i < n; i++)
			if (strcmp(name[i], name[n]) == 0)
				return -EINVAL;
		n++;
		p += len;
		if (*p == '\0')
			return n;
	}
}

int zctl_name_split_parts(const char *parts, char (*name)[ZCTL_NAME_MAX + 1], int max)
{
	char local[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	if (!name || max > ZCTL_PARTS_MAX)
		max = ZCTL_PARTS_MAX;
	return split(parts, name ? name : local, max);
}

/* "FABRIC" or "FABRIC+HOPS", len characters. */
static int split_entry(const char *p, size_t len, char name[ZCTL_NAME_MAX + 1], uint32_t *hops)
{
	const char *plus = memchr(p, '+', len);
	size_t chars = plus ? (size_t)(plus - p) : len;
	if (chars > ZCTL_NAME_MAX)
		return -EINVAL;
	memcpy(name, p, chars);
	name[chars] = '\0';
	*hops = 0;
	if (plus && (plus + 2 != p + len || plus[1] < '1' || plus[1] > '0' + ZCTL_HOPS_MAX))
		return -EINVAL;
	if (plus)
		*hops = (uint32_t)(plus[1] - '0');
	return zctl_name_ok(name) ? 0 : -EINVAL;
}
_Static_assert(ZCTL_HOPS_MAX <= 9, "one digit");

int zctl_name_split_entries(const char *entries, const char *parts, char (*name)[ZCTL_NAME_MAX + 1], uint32_t *hops)
{
	int nparts = split(parts, name, ZCTL_PARTS_MAX);
	for (int i = 0; i < nparts; i++)
		hops[i] = 0;
	if (entries[0] == '\0' || nparts < 0)
		return nparts;
	for (int n = 0; n < nparts; n++) {
		size_t len = strcspn(entries, ",");
		if (split_entry(entries, len, name[n], &hops[n]) != 0 || (entries[len] == ',') != (n + 1 < nparts))
			return -EINVAL;
		entries += len + 1;
	}
	return nparts;
}
