/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks go to which class of nodes: tries many starts, refines each, and keeps the best. */
#ifndef ZIP_MAPPER_MAP_SEARCH_H
#define ZIP_MAPPER_MAP_SEARCH_H

#include "mapper/search/map_problem.h"

enum map_strategy {
	MAP_AUTO,
	MAP_PAIRS,
	MAP_BLOCK,
	MAP_EDGE_CUT,
	MAP_VERTEX_CUT,
	MAP_SPREAD,
	MAP_FASTEST, /* the result of MAP_AUTO or a layout: the one with the least predicted time */
	MAP_KEEP,
	MAP_STRATEGIES
};
extern const char *const map_search_strategies[MAP_STRATEGIES + 1]; /* NULL-terminated */

struct map_search_opts {
	enum map_strategy strategy; /* never MAP_PAIRS or MAP_BLOCK: these are layouts, see map_layout.h */
	unsigned effort;	    /* 1: as long as a person waits; more: more starts and kicks */
	/* [n] each, obeying rules and slots: layouts to start with, too; NULL: none; [2] also if the graph is large */
	const uint8_t *from[3];
	void (*progress)(void *arg, const char *what, map_cost cost); /* may be NULL */
	void *progress_arg;
};

/* Finds an assignment class[n] that obeys rules and slots, and its cost. 0, -ENOMEM, -ENOSPC, -ENOTSUP (strategy and
 * site do not fit). */
int map_search(const struct map_problem *, const struct map_search_opts *, uint8_t *class, map_cost *cost,
	struct zerr *);

#endif
