/* SPDX-License-Identifier: BSD-3-Clause */
/* Routers at the points of a grid, for topologies of dimensions. The last dimension runs fastest. */
#ifndef ZIP_MAPPER_GRID_H
#define ZIP_MAPPER_GRID_H

#include "mapper/net/net.h"

#define GRID_DIMS_MAX 8

struct grid {
	unsigned ndims;
	uint32_t size[GRID_DIMS_MAX], stride[GRID_DIMS_MAX]; /* the stride of the last dimension is 1 */
	uint32_t routers;
};

/* Reads the sizes behind the name of a topology, or of `preset` where there are none. There may be `links` links of a
 * router, as a bound on the number of all links. 0, or -EINVAL with the reason. */
int grid_read(struct grid *, struct spec *, const char *preset, unsigned dims_max, uint64_t links, struct zerr *);

/* Fills in points, nodes and levels of a network whose points are the routers: blocks are the nodes of a router, of a
 * line in the last dimension, and of all that share a coordinate in the first one. */
void grid_set_levels(const struct grid *, struct net *, uint32_t hosts);

/* Replaces the value of each router by the average over its line in a dimension. */
void grid_average(const struct grid *, double *value, unsigned dim);

/* Writes a router as "0.3.2". Returns the length. */
size_t grid_name(const struct grid *, uint32_t router, char *buf, size_t size);

static inline uint32_t grid_coordinate(const struct grid *g, uint32_t router, unsigned dim)
{
	return router / g->stride[dim] % g->size[dim];
}

#endif
