/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes are made and freed by the control thread, see lane.h. */
#include "zipperd/lane/lane.h"

#include <stdlib.h>
#include <string.h>

#include "zipperd/lane/worker.h"

static struct lane *create(uint32_t ndests)
{
	struct lane *l = aligned_alloc(alignof(struct lane), sizeof(*l));
	if (!l)
		return NULL;
	memset(l, 0, sizeof(*l));
	l->ndests = ndests;
	l->carried = UINT64_MAX;
	l->deficit.weight = 1;
	l->deficit.mean = DEFICIT_QUANTUM;
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

void lane_join(struct lane *l, struct worker *w)
{
	l->worker = w;
	list_add(&w->all_lanes, &l->of_worker);
}

void lane_destroy(struct lane *l)
{
	if (!l)
		return;
	if (list_linked(&l->of_worker)) {
		l->worker->past_msgs += atomic_load_explicit(&l->stats.msgs, memory_order_relaxed);
		l->worker->past_bytes += atomic_load_explicit(&l->stats.bytes, memory_order_relaxed);
		list_del(&l->of_worker);
	}
	free(l->dest);
	free(l->bucket);
	free(l->transfers);
	free(l->relay);
	free(l);
}
