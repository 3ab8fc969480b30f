/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with open addressing, see names.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/hash.h"
#include "mapper/base/names.h"

#define SLOTS_FIRST 64u

/* The slot of a name, or the free slot where it belongs. */
static uint32_t slot_find(const struct names *n, const char *name)
{
	uint32_t hash = ZHASH32, at;

	for (const char *c = name; *c; c++) {
		unsigned char byte = (unsigned char)(n->fold ? tolower((unsigned char)*c) : *c);

		hash = zhash32(hash, &byte, 1);
	}
	for (at = hash & (n->slots - 1); n->slot[at] != NAMES_NONE; at = (at + 1) & (n->slots - 1)) {
		const char *other = n->name[n->slot[at]];

		if (n->fold ? !strcasecmp(other, name) : !strcmp(other, name))
			break;
	}
	return at;
}

/* Makes the table twice as large. */
static int names_grow(struct names *n)
{
	uint32_t slots = n->slots ? 2 * n->slots : SLOTS_FIRST, *slot = malloc(slots * sizeof(*slot));
	char **name = realloc(n->name, slots / 2 * sizeof(*name));

	if (name)
		n->name = name;
	if (!name || !slot) {
		free(slot);
		return -ENOMEM;
	}
	memset(slot, 0xff, slots * sizeof(*slot));
	free(n->slot);
	n->slot = slot;
	n->slots = slots;
	for (uint32_t i = 0; i < n->n; i++)
		n->slot[slot_find(n, n->name[i])] = i;
	return 0;
}

int names_add(struct names *n, const char *name, uint32_t *number)
{
	uint32_t at;

	if (n->n == n->slots / 2) { /* at most half of the slots are taken */
		int rc = n->n < NAMES_MAX ? names_grow(n) : -E2BIG;

		if (rc)
			return rc;
	}
	at = slot_find(n, name);
	if (n->slot[at] != NAMES_NONE) {
		if (number)
			*number = n->slot[at];
		return -EEXIST;
	}
	n->name[n->n] = strdup(name);
	if (!n->name[n->n])
		return -ENOMEM;
	n->slot[at] = n->n;
	if (number)
		*number = n->n;
	n->n++;
	return 0;
}

uint32_t names_find(const struct names *n, const char *name)
{
	return n->slots ? n->slot[slot_find(n, name)] : NAMES_NONE;
}

void names_free(struct names *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		free(n->name[i]);
	free(n->name);
	free(n->slot);
	*n = (struct names){0};
}
