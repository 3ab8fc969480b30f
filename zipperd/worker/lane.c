/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes and their tables of refusals, see lane.h. */
#include "zipperd/worker/lane.h"

#include <stdlib.h>
#include <string.h>

static struct lane *create(uint32_t ndests)
{
	struct lane *l = aligned_alloc(alignof(struct lane), sizeof(*l));
	if (!l)
		return NULL;
	memset(l, 0, sizeof(*l));
	l->ndests = ndests;
	l->carried = UINT64_MAX;
	l->dest = calloc(ndests, sizeof(*l->dest));
	if (l->dest)
		return l;
	free(l);
	return NULL;
}

struct lane *lane_create(uint32_t ndests, uint32_t nparts)
{
	struct lane *l = create(ndests);
	if (!l)
		return NULL;
	l->bucket = calloc(LANE_BUCKETS, sizeof(struct refusal *));
	l->transfers = calloc(LANE_BUCKETS, sizeof(struct transfer *));
	l->relay = calloc(nparts, sizeof(struct relay *));
	if (!l->bucket || !l->transfers || !l->relay) {
		lane_destroy(l);
		return NULL;
	}
	return l;
}

struct lane *lane_create_circuit(void)
{
	struct lane *l = create(1);
	if (l)
		l->circuit = true;
	return l;
}

void lane_destroy(struct lane *l)
{
	if (!l)
		return;
	free(l->dest);
	free(l->bucket);
	free(l->transfers);
	free(l->relay);
	free(l);
}

static struct refusal **bucket_of(struct lane *l, uint32_t src, uint32_t dest)
{
	uint32_t h = (src * 0x9e3779b1u) ^ (dest * 0x85ebca6bu); /* odd multipliers spread neighbours */
	return &l->bucket[(h >> 16 ^ h) & (LANE_BUCKETS - 1)];
}

struct refusal *refusal_find(struct lane *l, uint32_t src, const struct dest *d)
{
	struct refusal *r = *bucket_of(l, src, d->index);
	while (r && (r->src != src || r->dest != d))
		r = r->chain;
	return r;
}

struct refusal *refusal_add(struct buf *b, uint32_t src, struct dest *d, uint64_t seq)
{
	struct refusal *r = (struct refusal *)(void *)b->payload;
	struct refusal **bucket = bucket_of(d->lane, src, d->index);
	*r = (struct refusal){.chain = *bucket, .dest = d, .buf = b, .seq = seq, .src = src};
	*bucket = r;
	list_add(&d->refused, &r->of_dest);
	d->nrefused++;
	return r;
}

void refusal_del(struct pool *pool, struct refusal *r)
{
	struct dest *d = r->dest;
	struct refusal **at = bucket_of(d->lane, r->src, d->index);
	while (*at != r)
		at = &(*at)->chain;
	*at = r->chain;
	if (r->state == REFUSAL_RESUMED || r->state == REFUSAL_RESUME_DUE)
		d->nresumed--;
	d->nrefused--;
	list_del(&r->of_dest);
	list_del(&r->due);
	pool_put(pool, r->buf);
}
