/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of each station, see stations.h. */
#include "libzip/stream/stations.h"

#include "libzip/world/world.h"

struct zstation zstations[ZSTATIONS_MAX];

void zstations_init(void)
{
	for (int i = 0; i < zstation_n; i++) {
		zstations[i].number = i;
		zstations[i].first = (uint32_t)i * (uint32_t)zworld.nranks;
	}
}
