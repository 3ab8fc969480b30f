/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table with open addressing, see tallies.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "mapper/trace/tallies.h"

#define SLOTS_FIRST ((size_t)256)
#define FREE UINT64_MAX

static struct tally *slot_find(const struct tallies *t, const uint64_t *key)
{
	size_t i = zhash64(ZHASH64, key, 2 * sizeof(*key));

	for (i = (i ^ i >> 32) & (t->slots - 1); t->at[i].key[0] != FREE; i = (i + 1) & (t->slots - 1))
		if (t->at[i].key[0] == key[0] && t->at[i].key[1] == key[1])
			break;
	return &t->at[i];
}

static int tallies_grow(struct tallies *t)
{
	struct tallies more = {.slots = t->slots ? 2 * t->slots : SLOTS_FIRST, .n = t->n};

	if (more.slots > 2 * TALLIES_MAX)
		return -E2BIG;
	more.at = malloc(more.slots * sizeof(*more.at));
	if (!more.at)
		return -ENOMEM;
	for (size_t i = 0; i < more.slots; i++)
		more.at[i].key[0] = FREE;
	for (size_t i = 0; i < t->slots; i++)
		if (t->at[i].key[0] != FREE)
			*slot_find(&more, t->at[i].key) = t->at[i];
	free(t->at);
	*t = more;
	return 0;
}

int tallies_add(struct tallies *t, uint64_t a, uint64_t b, uint64_t x, uint64_t y)
{
	const uint64_t key[2] = {a, b};
	struct tally *at;

	if (t->n >= t->slots / 2) { /* at most half of the slots are taken */
		int rc = tallies_grow(t);

		if (rc)
			return rc;
	}
	at = slot_find(t, key);
	if (at->key[0] == FREE) {
		*at = (struct tally){{a, b}, {0, 0}};
		t->n++;
	}
	if (__builtin_add_overflow(at->sum[0], x, &at->sum[0]) || __builtin_add_overflow(at->sum[1], y, &at->sum[1]))
		return -EOVERFLOW;
	return 0;
}

static int tally_compare(const void *x, const void *y)
{
	const struct tally *a = x, *b = y;
	int k = a->key[0] == b->key[0];

	return (a->key[k] > b->key[k]) - (a->key[k] < b->key[k]);
}

void tallies_sort(struct tallies *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->slots; i++)
		if (t->at[i].key[0] != FREE)
			t->at[n++] = t->at[i];
	if (n)
		qsort(t->at, n, sizeof(*t->at), tally_compare);
	t->slots = 0;
}

void tallies_free(struct tallies *t)
{
	free(t->at);
	*t = (struct tallies){0};
}
