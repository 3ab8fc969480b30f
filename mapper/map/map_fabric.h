/* SPDX-License-Identifier: BSD-3-Clause */
/* The network below a layout, for the network model (model.h): the point of each node of the site (map_points.h), and
 * the load of links under a layout. */
#ifndef ZIP_MAPPER_MAP_FABRIC_H
#define ZIP_MAPPER_MAP_FABRIC_H

#include "mapper/map/map_predict.h"
#include "mapper/net/net.h"
#include "mapper/model/routing.h"

struct map_fabric {
	struct net *net;
	const struct map_site *site;
	const struct routing *routing;
	uint32_t *point; /* [nnodes of the site] */
	unsigned threads;
	uint64_t seed;
};

/* From now on the zippers that the layout's job uses forward in the network; if it uses none, nothing is forwarded. 0,
 * -EINVAL, -ENOMEM, or an error of map_job_zippers. */
int map_fabric_forward(struct net *, const struct map_site *, const struct map_layout *, struct zerr *);

/* Makes the network from a text, see topology_create. 0, -EINVAL (network and hostfile do not fit), -ENOMEM, or an
 * error of reading. */
int map_fabric_create(struct map_fabric *, const struct map_site *, const char *text, const struct routing *,
	struct zerr *);
void map_fabric_free(struct map_fabric *);

/* Replaces the prediction's time of links by the model's time. If the port of a node without links of its own needs
 * longer, that time counts. The user's rates of ports and zippers count too. 0 or a negative errno with the reason. */
int map_fabric_predict(const struct map_fabric *, const struct zgraph *, const struct map_layout *,
	const struct map_rates *, struct map_prediction *, struct zerr *);
/* Predicts the links alone: the time of the busiest link and its name, and how many links a byte that leaves its node
 * crosses on average. 0 or a negative errno with the reason. */
int map_fabric_links(const struct map_fabric *, const struct zgraph *, const struct map_layout *, double *seconds,
	double *mean, char *busiest, size_t size, struct zerr *);

#endif
