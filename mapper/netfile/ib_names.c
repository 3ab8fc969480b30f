/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes names out of descriptions, see ib_names.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mapper/netfile/ib_names.h"

#define MANAGED "MF0;" /* begins the description of a switch that has a management module */

bool ib_names_in_switch(const char *description)
{
	return strstr(description, "Aggregation Node") != NULL;
}

/* "node01", "node01 mlx5_0", "node01 HCA-1 ..."; but not "MT4123 ConnectX6 Mellanox Technologies" and "localhost
 * mlx5_0", which adapters have before their host has told its name. */
char *ib_names_host(const char *description, const char *preset)
{
	size_t len = strcspn(description, " "), second;
	const char *rest = description + len + strspn(description + len, " ");

	second = strcspn(rest, " ");
	if (!len || (len == 9 && !strncasecmp(description, "localhost", len)))
		return strdup(preset);
	if (rest[second] && strncmp(rest, "HCA-", 4) && !memchr(rest, '_', second))
		return strdup(preset);
	return strndup(description, len);
}

/* Cuts NAME/PART out of "MF0;NAME:MODEL/PART". PART is left out if it is U1, the only one of a small switch. */
static char *managed_name(const char *description)
{
	const char *name = description + strlen(MANAGED), *model = strchr(name, ':');
	const char *part = model ? strchr(model, '/') : NULL;
	char *made;

	if (!model)
		return strdup(name);
	if (!part || !strcmp(part, "/U1"))
		return strndup(name, (size_t)(model - name));
	return asprintf(&made, "%.*s%s", (int)(model - name), name, part) < 0 ? NULL : made;
}

/* The name that a description gives a switch, or that of the device if it gives none. NULL: out of memory. */
static char *switch_name(const char *description, const char *device)
{
	char *name = !strncmp(description, MANAGED, strlen(MANAGED)) ? managed_name(description) : strdup(description);

	if (name && *name && strlen(name) <= CABLING_NAME_MAX && !strpbrk(name, ":=>\"; \t,"))
		return name;
	free(name);
	return strdup(device);
}

int ib_names_switches(const struct ib_fabric *f, const bool *used, char ***out)
{
	uint32_t n = f->names.n, number;
	char **name = *out = calloc(n + 1, sizeof(*name));
	uint32_t *count = calloc(n + 1, sizeof(*count));
	struct names all = {0};
	int rc = name && count ? 0 : -ENOMEM;

	for (uint32_t d = 0; d < n && !rc; d++) {
		if (!used[d])
			continue;
		name[d] = switch_name(f->device[d].description, f->names.name[d]);
		rc = name[d] ? names_add(&all, name[d], &number) : -ENOMEM;
		rc = rc == -EEXIST ? 0 : rc;
		if (!rc)
			count[number]++;
	}
	for (uint32_t d = 0; d < n && !rc; d++)
		if (used[d] && count[names_find(&all, name[d])] > 1) {
			free(name[d]);
			name[d] = strdup(f->names.name[d]);
			rc = name[d] ? 0 : -ENOMEM;
		}
	names_free(&all);
	free(count);
	return rc;
}
