/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of a communication graph: the senders to each rank. struct zgraph has the rows, the receivers from each
 * rank. */
#ifndef ZIP_MAPPER_MAP_COLUMNS_H
#define ZIP_MAPPER_MAP_COLUMNS_H

#include <stdint.h>

#include "common/graph/graph.h"

struct map_columns {
	uint64_t *off;	  /* [ranks + 1] */
	uint32_t *src;	  /* [edges], senders to a rank, ascending */
	uint64_t *weight; /* [edges], by map_columns_weight */
};

/* The weight of one edge. It is at most 2^62, so that the two directions of a pair have a sum. */
static inline uint64_t map_columns_weight(const struct zgraph *g, uint64_t edge, uint64_t per_message)
{
	const uint64_t most = UINT64_C(1) << 62;
	uint64_t sum;

	if (__builtin_mul_overflow(g->messages[edge], per_message, &sum) ||
		__builtin_add_overflow(sum, g->bytes[edge], &sum))
		return most;
	return sum < most ? sum : most;
}

/* Makes the columns. The result does not depend on threads. 0 or -ENOMEM; free it in any case. */
int map_columns_create(struct map_columns *, const struct zgraph *, uint64_t per_message, unsigned threads);
void map_columns_free(struct map_columns *);

#endif
