/* SPDX-License-Identifier: BSD-3-Clause */
/* The rails of a prediction, and what they carry. One thread. */
#ifndef ZIP_MAPPER_MAP_RAILS_H
#define ZIP_MAPPER_MAP_RAILS_H

#include "mapper/map/map_predict.h"

/* All rails of the hostfile, without load. 0, -ENOMEM. */
int map_rails_make(struct map_prediction *, const struct map_site *);
/* What is bridged between two fabrics, or in a job between those of two clusters: to all rails on its ways. */
void map_rails_load(struct map_prediction *, const struct map_site *, uint32_t from, uint32_t to, struct map_sum load);
/* Of so many bytes that a job's rank on this node, in the first cluster, exchanges with one in the second: those that
 * zippers on the node itself take or bring. near[map_prediction.ports.n], if not NULL, has them added at the ports
 * that the rails charge for them. */
uint64_t map_rails_near(const struct map_prediction *, const struct map_site *, uint32_t node, uint32_t from,
	uint32_t to, uint64_t bytes, uint64_t *near);

#endif
