/* SPDX-License-Identifier: BSD-3-Clause */
/* The rails of a prediction, and what they carry. One thread. */
#ifndef ZIP_MAPPER_MAP_RAILS_H
#define ZIP_MAPPER_MAP_RAILS_H

#include "map_predict.h"

/* All rails of the hostfile, without load. 0, -ENOMEM. */
int map_rails_make(struct map_prediction *, const struct map_site *);
/* What is bridged between two fabrics, or in a job between those of two clusters: to all rails on its ways. */
void map_rails_load(struct map_prediction *, const struct map_site *, uint32_t from, uint32_t to, struct map_sum load);

#endif
