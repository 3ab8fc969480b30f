/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the items of a chunk are worked on. */
#ifndef ZIP_MAPPER_ADAPT_WALK_H
#define ZIP_MAPPER_ADAPT_WALK_H

#include "mapper/model/adapt_state.h"

/* Items that are prefetched: a chunk is walked along in more places than the processor's own prefetching follows. */
#define ADAPT_AHEAD 16

/* A walk over the items of a chunk whose turn it is, in tiles: the items of all source points to one range of
 * destinations, then those to the next range. Links near the sources stay in the cache all the time; links near the
 * destinations stay for a tile. */
struct adapt_walk {
	const struct traffic_chunk *chunk;
	unsigned turns;
	uint32_t i, width;		   /* source point; number of destinations in a tile */
	uint64_t end, points;		   /* end of the tile */
	uint64_t at[TRAFFIC_CHUNK_POINTS]; /* next item of each source point */
};

void adapt_walk_begin(struct adapt_walk *, const struct adapt *, const struct traffic_chunk *);

/* Moves on to the next item: source point w->i, item *j. Returns false at the end. */
static inline bool adapt_walk_next(struct adapt_walk *w, uint64_t *j)
{
	const struct traffic_chunk *c = w->chunk;

	for (;;) {
		uint64_t at = w->at[w->i];

		if (at < c->off[w->i + 1] && c->items[at].dst < w->end) {
			__builtin_prefetch(&c->items[at + ADAPT_AHEAD]);
			w->at[w->i] = at + w->turns;
			*j = at;
			return true;
		}
		if (++w->i < c->n)
			continue;
		if (w->end >= w->points)
			return false;
		w->i = 0;
		w->end += w->width;
	}
}

#endif
