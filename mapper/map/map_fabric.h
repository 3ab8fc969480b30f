/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network below a layout, for the network model (model.h): which of its points each node of the site is, and what
 * a layout puts on its links. The network is one topology (a single cluster), or joined of a part for each cluster
 * and a zipper for each zipper node, by their names. The ordinary hosts of a cluster are the nodes of its part in the
 * order of the hostfile, without those nodes that are zippers.
 */
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

/* From now on the zippers that the layout's job uses forward in the network; none: nothing is forwarded. 0, -EINVAL,
 * -ENOMEM, or what map_job_zippers says. */
int map_fabric_forward(struct net *, const struct map_site *, const struct map_layout *, struct zerr *);

/* text: as net_create takes it. 0, -EINVAL (what does not fit the hostfile), -ENOMEM, or why it cannot be read. */
int map_fabric_create(struct map_fabric *, const struct map_site *, const char *text, const struct routing *,
	struct zerr *);
void map_fabric_free(struct map_fabric *);

/* Replaces the prediction's time of links by the model's, or that of a port that the network does not limit, if it is
 * longer: of nodes without links of their own. What the user tells of ports and zippers in the rates counts too. */
int map_fabric_predict(const struct map_fabric *, const struct zgraph *, const struct map_layout *,
	const struct map_rates *, struct map_prediction *, struct zerr *);
/* Predicts the links alone: the time of the busiest link and its name, and how many links a byte that leaves its node
 * crosses on average. 0 or a negative errno with the reason. */
int map_fabric_links(const struct map_fabric *, const struct zgraph *, const struct map_layout *, double *seconds,
	double *mean, char *busiest, size_t size, struct zerr *);

#endif
