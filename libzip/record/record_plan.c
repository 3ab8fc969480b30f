/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of plans by request. See record_plan.h. */
#include "libzip/record/record_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "libzip/abi/abi.h"

#define BUCKETS 4096u /* programs with persistent requests have hundreds or thousands */

static struct zrecord_plan *table[BUCKETS];
static size_t plans;

static unsigned bucket_of(MPI_Request request)
{
	const uint32_t hash = zabi_hash(request);

	return (hash ^ hash >> 12) % BUCKETS;
}

static struct zrecord_plan **place_of(MPI_Request request)
{
	struct zrecord_plan **at = &table[bucket_of(request)];

	while (*at && (*at)->request != request)
		at = &(*at)->next;
	return at;
}

struct zrecord_plan *zrecord_plan_create(MPI_Request request)
{
	struct zrecord_plan *p = calloc(1, sizeof(*p));

	zrecord_plan_destroy(request);
	if (!p)
		return NULL;
	p->request = request;
	*place_of(request) = p;
	plans++;
	return p;
}

int zrecord_plan_add(struct zrecord_plan *p, int vrank, uint64_t bytes, uint64_t messages)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 1;
		struct zrecord_plan_edge *edges = realloc(p->edges, cap * sizeof(*edges));
		if (!edges)
			return -ENOMEM;
		p->edges = edges;
		p->cap = cap;
	}
	p->edges[p->n++] = (struct zrecord_plan_edge){vrank, bytes, messages};
	return 0;
}

const struct zrecord_plan *zrecord_plan_find(MPI_Request request)
{
	return plans ? *place_of(request) : NULL;
}

void zrecord_plan_destroy(MPI_Request request)
{
	struct zrecord_plan **at = place_of(request), *p = *at;

	if (!p)
		return;
	*at = p->next;
	free(p->edges);
	free(p);
	plans--;
}

void zrecord_plan_destroy_all(void)
{
	for (unsigned b = 0; b < BUCKETS; b++)
		while (table[b])
			zrecord_plan_destroy(table[b]->request);
}
