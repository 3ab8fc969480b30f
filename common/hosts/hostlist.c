/* SPDX-License-Identifier: BSD-3-Clause */
/* Expands lists of host names, see hostlist.h. */
#include "common/hosts/hostlist.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/word.h"

#define NAME_BYTES 300 /* longer than any host name */

/* One element while it is expanded. */
struct element {
	struct zhostlist *list;
	const char *text; /* the whole of it, for messages */
	char name[NAME_BYTES];
};

char *zhostlist_next(char **rest)
{
	char *start = *rest + strspn(*rest, ","), *p = start;
	for (bool inside = false; *p && (inside || *p != ','); p++)
		inside = *p == '[' || (inside && *p != ']');
	*rest = p;
	if (*p)
		*(*rest)++ = '\0';
	return *start ? start : NULL;
}

static int refuse(const struct element *e, struct zerr *err)
{
	return zerr_set(err, -EINVAL, "'%.64s' is no list of hosts: NAME[FIRST-LAST], as node[01-04,7]", e->text);
}

static int keep(struct element *e, struct zerr *err)
{
	if (e->list->n == ZHOSTLIST_MAX)
		return zerr_set(err, -E2BIG, "'%.64s' are more than %d hosts", e->text, ZHOSTLIST_MAX);
	char *name = strdup(e->name), **at = name ? zword_grow(&e->list->names, &e->list->n, sizeof(*at)) : NULL;
	if (!at) {
		free(name);
		return zword_no_memory(err);
	}
	*at = name;
	return 0;
}

/* Reads FIRST or FIRST-LAST. The digits of FIRST, or 0: it is neither. */
static int scan_range(const char **text, unsigned long long *first, unsigned long long *last)
{
	int digits = 0, more = 0;
	if (!isdigit((unsigned char)**text) || sscanf(*text, "%18llu%n", first, &digits) != 1)
		return 0;
	*text += digits;
	*last = *first;
	if (**text == '-') {
		(*text)++;
		if (!isdigit((unsigned char)**text) || sscanf(*text, "%18llu%n", last, &more) != 1)
			return 0;
		*text += more;
	}
	return *last < *first ? 0 : digits;
}

/* Adds all names that begin with the first len characters of e->name. rest: what follows them in the text. */
static int expand(struct element *e, size_t len, const char *rest, struct zerr *err) /* NOLINT(misc-no-recursion) */
{
	const size_t plain = strcspn(rest, "[]");
	if (len + plain >= NAME_BYTES)
		return zerr_set(err, -EINVAL, "'%.64s' is too long for a host name", e->text);
	memcpy(e->name + len, rest, plain);
	e->name[len += plain] = '\0';
	rest += plain;
	if (!*rest)
		return keep(e, err);
	const char *p = rest + 1, *end = strchr(rest, ']');
	if (*rest == ']' || !end)
		return refuse(e, err);
	do {
		unsigned long long first, last;
		int rc = 0, digits = scan_range(&p, &first, &last);
		if (!digits || (*p != ',' && p != end))
			return refuse(e, err);
		for (unsigned long long i = first; rc == 0 && i <= last; i++) {
			int more = snprintf(e->name + len, NAME_BYTES - len, "%0*llu", digits, i);
			rc = expand(e, len + (size_t)more, end + 1, err);
		}
		if (rc < 0)
			return rc;
	} while (*p++ == ',');
	return 0;
}

int zhostlist_add(struct zhostlist *list, const char *text, struct zerr *err)
{
	struct element e = {.list = list, .text = text};
	return expand(&e, 0, text, err);
}

int zhostlist_add_all(struct zhostlist *list, const char *text, struct zerr *err)
{
	char *copy = strdup(text), *rest = copy;
	bool inside = false;
	int rc = copy ? 0 : zword_no_memory(err);
	for (char *p = copy; p && *p; p++) {
		inside = *p == '[' || (inside && *p != ']');
		if (!inside && strchr(ZWORD_BLANKS, *p))
			*p = ',';
	}
	for (char *element; rc == 0 && (element = zhostlist_next(&rest));)
		rc = zhostlist_add(list, element, err);
	free(copy);
	return rc;
}

void zhostlist_free(struct zhostlist *list)
{
	for (int i = 0; i < list->n; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct zhostlist){0};
}
