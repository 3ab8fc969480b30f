/* SPDX-License-Identifier: BSD-3-Clause */
/* METIS for our graphs, within its limits: 32-bit numbers, and no more edges than it can work on in a minute. */
#ifndef ZIP_MAPPER_MAP_METIS_H
#define ZIP_MAPPER_MAP_METIS_H

#include "mapper/search/map_graph.h"

/* Partitions the graph into pieces of about the wanted sizes, whose sum is g->n. Fills piece[n]. seed: for METIS. 0,
 * -ENOMEM, -EIO (METIS gave up). */
int map_metis_pieces(const struct map_graph *, uint32_t pieces, const uint32_t *want, unsigned seed, uint32_t *piece,
	struct zerr *);
/* Finds a vertex separator. piece[n] becomes 0 or 1 for the sides, and 2 for the separator. 0, -ENOMEM, -EIO. */
int map_metis_separator(const struct map_graph *, unsigned seed, uint32_t *piece, struct zerr *);

#endif
