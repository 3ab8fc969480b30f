/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns rows into columns in two steps: edges are sorted by blocks of receivers, then inside each block, whose columns
 * fit into a cache. One step would write all over the memory. Both steps keep the order of senders. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/search/map_columns.h"
#include "mapper/base/par.h"

#define BLOCK_BITS 13u /* 8,192 receivers: 5 MB at 50 senders each */
#define SLICES_MAX 64u /* slices of senders; a thread takes one at a time */
#define SLICE_MIN 4096u

struct entry {
	uint32_t src, dst;
	uint64_t weight;
};

struct turn {
	struct map_columns *c;
	const struct zgraph *g;
	uint64_t per_message;
	uint32_t blocks, slices;
	uint64_t *at;	    /* [blocks * slices + 1]: the first entry of a block that is of this slice */
	struct entry *list; /* [edges], by block, then by sender */
};

static void slice_range(const struct turn *t, size_t slice, uint32_t *first, uint32_t *end)
{
	*first = (uint32_t)((uint64_t)t->g->ranks * slice / t->slices);
	*end = (uint32_t)((uint64_t)t->g->ranks * (slice + 1) / t->slices);
}

static void slice_count(void *arg, size_t slice, unsigned worker)
{
	const struct turn *t = arg;
	uint32_t first, end;

	(void)worker;
	slice_range(t, slice, &first, &end);
	for (uint64_t e = t->g->off[first]; e < t->g->off[end]; e++)
		t->at[(size_t)(t->g->peer[e] >> BLOCK_BITS) * t->slices + slice]++;
}

/* Sorts the edges of a slice. Afterwards each at[] stands where the next one began. */
static void slice_sort(void *arg, size_t slice, unsigned worker)
{
	const struct turn *t = arg;
	uint32_t first, end;

	(void)worker;
	slice_range(t, slice, &first, &end);
	for (uint32_t u = first; u < end; u++)
		for (uint64_t e = t->g->off[u]; e < t->g->off[u + 1]; e++) {
			uint32_t v = t->g->peer[e];
			uint64_t *at = &t->at[(size_t)(v >> BLOCK_BITS) * t->slices + slice];

			t->list[(*at)++] = (struct entry){u, v, map_columns_weight(t->g, e, t->per_message)};
		}
}

static void block_sort(void *arg, size_t block, unsigned worker)
{
	const struct turn *t = arg;
	uint64_t next[1u << BLOCK_BITS] = {0}, begin = block ? t->at[block * t->slices - 1] : 0, sum = begin;
	uint64_t end = t->at[(block + 1) * t->slices - 1];
	uint32_t first = (uint32_t)(block << BLOCK_BITS);
	uint32_t n = t->g->ranks - first < 1u << BLOCK_BITS ? t->g->ranks - first : 1u << BLOCK_BITS;

	(void)worker;
	for (uint64_t i = begin; i < end; i++)
		next[t->list[i].dst - first]++;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t count = next[i];

		next[i] = t->c->off[first + i] = sum;
		sum += count;
	}
	for (uint64_t i = begin; i < end; i++) {
		uint64_t at = next[t->list[i].dst - first]++;

		t->c->src[at] = t->list[i].src;
		t->c->weight[at] = t->list[i].weight;
	}
}

static int turn_create(struct turn *t)
{
	const struct zgraph *g = t->g;

	t->blocks = (g->ranks >> BLOCK_BITS) + 1;
	t->slices = g->ranks / SLICE_MIN < SLICES_MAX ? g->ranks / SLICE_MIN + 1 : SLICES_MAX;
	t->at = calloc((size_t)t->blocks * t->slices, sizeof(*t->at));
	t->list = malloc((g->edges + 1) * sizeof(*t->list));
	t->c->off = malloc(((size_t)g->ranks + 1) * sizeof(*t->c->off));
	t->c->src = malloc((g->edges + 1) * sizeof(*t->c->src));
	t->c->weight = malloc((g->edges + 1) * sizeof(*t->c->weight));
	return t->at && t->list && t->c->off && t->c->src && t->c->weight ? 0 : -ENOMEM;
}

int map_columns_create(struct map_columns *c, const struct zgraph *g, uint64_t per_message, unsigned threads)
{
	struct turn t = {.c = c, .g = g, .per_message = per_message};
	uint64_t sum = 0;
	int rc;

	*c = (struct map_columns){0};
	rc = turn_create(&t);
	if (rc)
		goto out;
	par_run(threads, t.slices, slice_count, &t);
	for (size_t i = 0; i < (size_t)t.blocks * t.slices; i++) {
		uint64_t count = t.at[i];

		t.at[i] = sum;
		sum += count;
	}
	par_run(threads, t.slices, slice_sort, &t);
	par_run(threads, t.blocks, block_sort, &t);
	c->off[g->ranks] = g->edges;
out:
	free(t.at);
	free(t.list);
	return rc;
}

void map_columns_free(struct map_columns *c)
{
	free(c->off);
	free(c->src);
	free(c->weight);
	*c = (struct map_columns){0};
}
