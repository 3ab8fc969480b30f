/* SPDX-License-Identifier: BSD-3-Clause */
/* The task of a search (graph, site and rules), and the cost of an assignment of ranks to classes of nodes. */
#ifndef ZIP_MAPPER_MAP_PROBLEM_H
#define ZIP_MAPPER_MAP_PROBLEM_H

#include <stdint.h>

#include "mapper/search/map_graph.h"
#include "mapper/site/map_rules.h"
#include "mapper/site/map_site.h"

/*
 * Cost is compared as a pair: first weight x forwards of the messages that are bridged, then the weight of the messages
 * that reach their receiver directly, over a zipper node. A byte is therefore never bridged to spare a direct one. The
 * number is bridged x 2^64 + direct.
 */
typedef __int128 map_cost;

struct map_problem {
	const struct map_graph *graph;
	const struct map_site *site;
	const struct map_rules *rules;
	uint64_t seed;
};

static inline uint64_t map_cost_bridged(map_cost c)
{
	return (uint64_t)(c >> 64);
}

#endif
