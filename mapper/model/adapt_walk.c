/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes the tiles of a walk, see adapt_walk.h. */
#include "mapper/model/adapt_walk.h"

#define TILE_ITEMS 4u /* items of one source point in a tile */

/* Tiles are whole chunks of destinations, in which every source point has some items. Where messages are few, there is
 * one tile, and items come in their order. */
void adapt_walk_begin(struct adapt_walk *w, const struct adapt *a, const struct traffic_chunk *c)
{
	unsigned turns = a->pass == ADAPT_EVEN ? 1 : a->turns, first = (turns - a->iteration % turns) % turns;
	uint64_t items = c->off[c->n] / turns + 1, width = (uint64_t)a->net->points * c->n * TILE_ITEMS / items;

	w->chunk = c;
	w->turns = turns;
	w->i = 0;
	w->points = a->net->points;
	width = (width / TRAFFIC_CHUNK_POINTS + 1) * TRAFFIC_CHUNK_POINTS;
	w->end = w->width = (uint32_t)(width < w->points ? width : w->points);
	for (uint32_t i = 0; i < c->n; i++)
		w->at[i] = c->off[i] + (first + turns - c->off[i] % turns) % turns;
}
