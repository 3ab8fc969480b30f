/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores that jobs can have: all of a network, less those that other jobs keep busy. */
#ifndef ZIP_MAPPER_JOB_ROOM_H
#define ZIP_MAPPER_JOB_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/base/busy.h"
#include "mapper/net/net.h"

struct job_room {
	uint32_t *free; /* [net->nodes]: cores of each node; NULL: all of all nodes */
	uint32_t nodes; /* that have a free core */
	uint64_t cores; /* free ones */
	bool partly;	/* some node has fewer free cores than others, but not none */
};

/* All of a network; there is nothing to free. */
void job_room_whole(struct job_room *, const struct net *);
/* Finds the room. Busy nodes are named by their names, or by their numbers in a network whose nodes have none. 0,
 * -EINVAL (none of the nodes is there; nothing is free), -ENOMEM; free it in any case. */
int job_room_create(struct job_room *, const struct net *, const struct busy *, struct zerr *);
void job_room_free(struct job_room *);
/* Takes the nodes without a free core out of order[net->nodes]. */
void job_room_filter(const struct job_room *, const struct net *, uint32_t *order);
/* Fills point[ranks] with the points of a job's ranks. They get the free cores of the nodes from order[*at] on; *at
 * becomes the place of the first node behind them. False: the nodes do not suffice. */
bool job_room_fill(const struct job_room *, const struct net *, const uint32_t *order, uint32_t *at, uint32_t ranks,
	uint32_t *point);

#endif
