/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank is on which class of nodes: the state of a search, its cost, and the local search itself. Cost is compared
 * as a pair: first weight x forwards of what has to be bridged, then the weight of what reaches its peer directly, over
 * a zipper node. So a byte is never bridged to spare a direct one.
 *
 * The search is that of Fiduccia and Mattheyses (1982) for any number of classes: moves of least cost, each rank at
 * most once in a pass, back to the best state of the pass. A class may be one rank over its slots in between, so that
 * two moves are an exchange and several a rotation.
 */
#ifndef ZIP_MAPPER_MAP_CUT_H
#define ZIP_MAPPER_MAP_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/search/map_graph.h"
#include "mapper/map/map_rules.h"
#include "mapper/map/map_site.h"

typedef __int128 map_cost; /* bridged x 2^64 + direct */

struct map_problem {
	const struct map_graph *graph;
	const struct map_site *site;
	const struct map_rules *rules;
	uint64_t seed;
};

struct map_cut {
	const struct map_problem *p;
	uint32_t n, k;
	uint8_t *class; /* [n] */
	uint32_t load[MAP_CLASSES_MAX];
	uint32_t needing[MAP_CLASSES_MAX][MAP_FEATURES_MAX];
	uint64_t *linked; /* [n * k]: weight between a rank and all of a class */
	uint8_t *near;	  /* [k * k]: 1 where messages are direct */
	map_cost cost;
	uint64_t random; /* counts up: part of the position of random numbers */
};

/* 0 or -ENOMEM. */
int map_cut_create(struct map_cut *, const struct map_problem *, struct zerr *);
/* Takes an assignment as it is, whatever its loads; 0 is never an error. */
void map_cut_set(struct map_cut *, const uint8_t *class);
/* Makes it obey rules and slots, with as little cost as the order of moves allows. 0, or -ENOSPC where single moves do
 * not get there. */
int map_cut_repair(struct map_cut *, struct zerr *);
/* Passes until one finds nothing better. The assignment must obey rules and slots. 0 or -ENOMEM. */
int map_cut_refine(struct map_cut *, struct zerr *);
/* Moves a connected piece of about `size` ranks to other classes and repairs: where a new search can start. */
int map_cut_kick(struct map_cut *, uint32_t size, struct zerr *);
void map_cut_free(struct map_cut *);

/* What it would cost if the rank were in the class. */
map_cost map_cut_cost_in(const struct map_cut *, uint32_t rank, uint32_t class);
/* Moves one rank; the caller keeps rules and slots in mind. */
void map_cut_move(struct map_cut *, uint32_t rank, uint32_t class);
static inline uint64_t map_cost_bridged(map_cost c)
{
	return (uint64_t)(c >> 64);
}

#endif
