/* SPDX-License-Identifier: BSD-3-Clause */
/* Placements: the order in which nodes are given to jobs. Each job takes a consecutive piece of it. */
#ifndef ZIP_MAPPER_JOB_PLACEMENT_H
#define ZIP_MAPPER_JOB_PLACEMENT_H

#include <stdint.h>

#include "common/base/err.h"
#include "mapper/net/net.h"

struct job_placement {
	const char *name, *title, *help;
	enum net_level block; /* nodes that stay together */
	/* Fills order[nodes]. */
	void (*order)(const struct job_placement *, const struct net *, uint64_t seed, uint32_t *order);
};

extern const struct job_placement job_placement_table[]; /* ends with a NULL name */

const struct job_placement *job_placement_find(const char *name); /* NULL: there is none; case does not matter */

/* Reads a placement map into node[ranks], which is the caller's. It has lines "RANK NODE", with each rank below `ranks`
 * once, and no more ranks on a node than it has cores. A node is a number, or a name if the network knows names. 0 or a
 * negative errno with "path:line: reason". */
int job_placement_read(const char *path, uint32_t ranks, const struct net *, uint32_t *node, struct zerr *);

#endif
