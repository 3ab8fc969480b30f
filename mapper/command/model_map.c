/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads maps of nodes by number, and maps of the hosts of a hostfile. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/map/map_fabric.h"
#include "mapper/command/model_map.h"
#include "mapper/map/map_layout_read.h"
#include "mapper/map/map_points.h"
#include "mapper/model/job_placement.h"

static int numbers_read(const struct net *net, const char *map, uint32_t ranks, uint32_t *point, uint32_t *node,
	struct zerr *err)
{
	int rc = job_placement_read(map, ranks, net, point, err);

	for (uint32_t i = 0; i < ranks && !rc; i++) {
		if (node)
			node[i] = point[i];
		point[i] = net->ops->point(net, point[i]);
	}
	return rc;
}

static int hosts_read(struct net *net, const char *map, const char *path, uint32_t ranks, uint32_t *point,
	uint32_t *node, struct zerr *err)
{
	const struct map_site_opts opts = {.reserve = -1};
	struct zhostfile hosts = {0};
	struct map_site site = {0};
	struct map_layout layout = {0};
	uint32_t *at = NULL;
	int rc = zhostfile_read(&hosts, path, err);

	if (!rc)
		rc = map_site_create(&site, &hosts, &opts, err);
	if (!rc)
		rc = map_layout_read(&layout, map, &hosts, false, err);
	if (!rc && layout.n != ranks)
		rc = zerr_set(err, -EINVAL, "%s has %u ranks, the job %u", map, layout.n, ranks);
	if (!rc && !(at = malloc(site.nnodes * sizeof(*at))))
		rc = zerr_set(err, -ENOMEM, "not enough memory");
	if (!rc)
		rc = map_points_find(net, &site, at, err);
	if (!rc)
		rc = map_fabric_forward(net, &site, &layout, err);
	for (uint32_t i = 0; i < ranks && !rc; i++) {
		if (node)
			node[i] = layout.node[i];
		point[i] = at[layout.node[i]];
	}
	free(at);
	map_layout_free(&layout);
	map_site_free(&site);
	zhostfile_free(&hosts);
	return rc;
}

int model_map_read(struct net *net, const char *map, const char *hosts, uint32_t ranks, uint32_t *point, uint32_t *node,
	struct zerr *err)
{
	return hosts ? hosts_read(net, map, hosts, ranks, point, node, err)
		     : numbers_read(net, map, ranks, point, node, err);
}
