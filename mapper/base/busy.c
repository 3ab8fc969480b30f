/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads busy nodes, see busy.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "common/hosts/hostlist.h"
#include "mapper/base/busy.h"

static int node_add(struct busy *b, const char *name, uint32_t cores, struct zerr *err)
{
	uint32_t n = b->names.n, number;
	int rc = 0;

	if (!(n & (n - 1))) { /* the array grows whenever its length is a power of two */
		uint32_t *more = realloc(b->cores, 2 * ((size_t)n + 1) * sizeof(*more));

		if (!more)
			return zerr_set(err, -ENOMEM, "not enough memory");
		b->cores = more;
	}
	b->names.fold = true;
	rc = names_add(&b->names, name, &number);
	if (rc == -EEXIST && b->cores[number] == cores)
		return 0;
	if (rc == -EEXIST)
		return zerr_set(err, -EINVAL, "node %.64s is there twice, with different numbers of cores", name);
	if (rc)
		return rc == -E2BIG ? zerr_set(err, rc, "more than %u nodes", NAMES_MAX)
				    : zerr_set(err, rc, "not enough memory");
	b->cores[number] = cores;
	return 0;
}

static int list_add(struct busy *b, const char *text, uint32_t cores, struct zerr *err)
{
	struct zhostlist list = {0};
	int rc = zhostlist_add_all(&list, text, err);

	for (int i = 0; i < list.n && !rc; i++)
		rc = node_add(b, list.names[i], cores, err);
	if (!rc && !list.n)
		rc = zerr_set(err, -EINVAL, "'%.64s' names no node", text);
	zhostlist_free(&list);
	return rc;
}

int busy_add(struct busy *b, const char *list, struct zerr *err)
{
	return list_add(b, list, BUSY_ALL, err);
}

/* Parses "8", or "4/28/0/32", with at most 7 digits each. */
static int cores_parse(const char *text, uint32_t *cores, struct zerr *err)
{
	unsigned n[4] = {0};
	int count = 0, end = 0;

	if (strspn(text, "0123456789/") == strlen(text)) {
		count = sscanf(text, "%7u%n/%7u/%7u/%7u%n", &n[0], &end, &n[1], &n[2], &n[3], &end);
		count = count == 4 || count == 1 ? count : 0;
	}
	if (!count || text[end])
		return zerr_set(err, -EINVAL,
			"\"%.64s\" is no number of busy cores, nor allocated/idle/other/total, as 4/28/0/32", text);
	if (count == 4 && n[0] + n[1] + n[2] != n[3])
		return zerr_set(err, -EINVAL, "%.64s: the first three numbers do not make up the last one", text);
	*cores = n[0] + n[2];
	return 0;
}

static int line_read(void *arg, char *line, int number, struct zerr *err)
{
	uint32_t cores = BUSY_ALL;
	char *save = NULL, *list, *text;
	int rc = 0;

	(void)number;
	line[strcspn(line, "#")] = '\0';
	list = strtok_r(line, " \t\r\n", &save);
	if (!list)
		return 0;
	text = strtok_r(NULL, " \t\r\n", &save);
	if (strtok_r(NULL, " \t\r\n", &save))
		return zerr_set(err, -EINVAL, "not \"NODES\" or \"NODES CORES\"");
	if (text)
		rc = cores_parse(text, &cores, err);
	return rc ? rc : list_add(arg, list, cores, err);
}

int busy_read(struct busy *b, const char *path, struct zerr *err)
{
	return zlines_read_file(path, line_read, b, err);
}

uint32_t busy_find(const struct busy *b, const char *name, bool *found)
{
	uint32_t at = names_find(&b->names, name);
	size_t len = strcspn(name, ".");
	char first[256];

	if (at == NAMES_NONE && name[len] && len < sizeof(first)) {
		memcpy(first, name, len);
		first[len] = '\0';
		at = names_find(&b->names, first);
	}
	if (found)
		*found = at != NAMES_NONE;
	return at == NAMES_NONE ? 0 : b->cores[at];
}

void busy_free(struct busy *b)
{
	names_free(&b->names);
	free(b->cores);
	*b = (struct busy){0};
}
