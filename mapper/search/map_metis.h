/* SPDX-License-Identifier: BSD-3-Clause */
/* METIS with our graphs: 32-bit numbers, and no more of a graph than it can do in a minute. */
#ifndef ZIP_MAPPER_MAP_METIS_H
#define ZIP_MAPPER_MAP_METIS_H

#include "mapper/search/map_graph.h"

/* Parts of about the wanted sizes (their sum is g->n) into piece[n]. seed: as METIS takes it. 0, -ENOMEM, -EIO (METIS
 * gave up). */
int map_metis_pieces(const struct map_graph *, uint32_t pieces, const uint32_t *want, unsigned seed, uint32_t *piece,
	struct zerr *);
/* piece[n] = 0 or 1: the sides; 2: the separator. */
int map_metis_separator(const struct map_graph *, unsigned seed, uint32_t *piece, struct zerr *);

#endif
