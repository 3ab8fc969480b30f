/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank is on which class of nodes: the state of a search, with its cost. One thread. */
#ifndef ZIP_MAPPER_MAP_STATE_H
#define ZIP_MAPPER_MAP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/search/map_problem.h"

struct map_state {
	const struct map_problem *p;
	uint32_t n, k;
	uint8_t *class; /* [n] */
	uint32_t load[MAP_CLASSES_MAX];
	uint32_t needing[MAP_CLASSES_MAX][MAP_FEATURES_MAX];
	uint64_t *linked; /* [n * k]: weight between a rank and all ranks of a class */
	uint8_t *near;	  /* [k * k]: 1 where messages are direct */
	map_cost cost;
	uint64_t random; /* counts up: part of the position of random numbers */
};

/* 0 or -ENOMEM. */
int map_state_create(struct map_state *, const struct map_problem *, struct zerr *);
/* Takes an assignment as it is, whatever its loads. */
void map_state_set(struct map_state *, const uint8_t *class);
/* Makes the assignment obey rules and slots, as cheaply as the order of moves allows. 0; -ENOSPC where single moves do
 * not lead there; -ENOMEM. */
int map_state_repair(struct map_state *, struct zerr *);
/* Moves a connected piece of about `size` ranks to other classes, and repairs: from there a new search can start.
 * Errors: as map_state_repair. */
int map_state_kick(struct map_state *, uint32_t size, struct zerr *);
void map_state_free(struct map_state *);

/* The cost of a rank's messages if the rank were in the class. */
map_cost map_state_cost_in(const struct map_state *, uint32_t rank, uint32_t class);
/* Moves one rank. The caller has to keep rules and slots in mind. */
void map_state_move(struct map_state *, uint32_t rank, uint32_t class);
#endif
