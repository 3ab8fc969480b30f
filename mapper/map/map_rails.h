/* SPDX-License-Identifier: BSD-3-Clause */
/* The rails of a prediction, and what they carry. One thread. */
#ifndef ZIP_MAPPER_MAP_RAILS_H
#define ZIP_MAPPER_MAP_RAILS_H

#include "mapper/map/map_predict.h"

/* Makes all rails of the hostfile, without load. 0 or -ENOMEM. */
int map_rails_make(struct map_prediction *, const struct map_site *);
/* Loads all rails on the ways of bridged messages: between two fabrics where all zippers forward, else between the jobs
 * of two clusters. */
void map_rails_load(struct map_prediction *, const struct map_site *, uint32_t from, uint32_t to, struct map_sum load);
/* A rank on this node, in the first cluster's job, exchanges so many bytes with a rank in the second cluster's job.
 * Returns how many of them zippers on the node itself take or bring. near[map_prediction.ports.n], unless NULL, has
 * them added at the ports that the rails charge for them. */
uint64_t map_rails_near(const struct map_prediction *, const struct map_site *, uint32_t node, uint32_t from,
	uint32_t to, uint64_t bytes, uint64_t *near);

#endif
