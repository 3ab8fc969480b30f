/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and numbers grids of routers, see grid.h. */
#include <errno.h>
#include <stdio.h>

#include "mapper/net/grid.h"

int grid_read(struct grid *g, struct spec *spec, const char *preset, unsigned dims_max, uint64_t links,
	struct zerr *err)
{
	const char *text = spec->words[0].value;
	uint64_t routers = 1;
	int rc = spec_dims(spec, text ? text : preset, g->size, dims_max, &g->ndims, err);

	for (unsigned i = 0; i < g->ndims && !rc; i++) {
		if (routers * g->size[i] > UINT32_MAX / links)
			return zerr_set(err, -EINVAL, "%s: a %s of that size is out of range", spec->where,
				spec->words[0].key);
		routers *= g->size[i];
	}
	for (unsigned i = 0; i < g->ndims && !rc; i++) {
		g->stride[i] = 1;
		for (unsigned k = i + 1; k < g->ndims; k++)
			g->stride[i] *= g->size[k];
	}
	g->routers = (uint32_t)routers;
	return rc;
}

void grid_set_levels(const struct grid *g, struct net *net, uint32_t hosts)
{
	net->points = g->routers;
	net->nodes = g->routers * hosts;
	net->level[NET_NODE] = 1;
	net->level[NET_ROUTER] = hosts;
	net->level[NET_CHASSIS] = g->ndims > 1 ? hosts * g->size[g->ndims - 1] : hosts;
	net->level[NET_GROUP] = hosts * g->stride[0];
	if (net->level[NET_GROUP] < net->level[NET_CHASSIS])
		net->level[NET_GROUP] = net->level[NET_CHASSIS];
}

void grid_average(const struct grid *g, double *value, unsigned dim)
{
	for (uint32_t r = 0; r < g->routers; r++) {
		double sum = 0;

		if (grid_coordinate(g, r, dim))
			continue;
		for (uint32_t x = 0; x < g->size[dim]; x++)
			sum += value[r + x * g->stride[dim]];
		for (uint32_t x = 0; x < g->size[dim]; x++)
			value[r + x * g->stride[dim]] = sum / g->size[dim];
	}
}

size_t grid_name(const struct grid *g, uint32_t router, char *buf, size_t size)
{
	size_t n = 0;

	for (unsigned i = 0; i < g->ndims && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%u", i ? "." : "", grid_coordinate(g, router, i));
	return n;
}
