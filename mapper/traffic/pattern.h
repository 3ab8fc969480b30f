/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication patterns: which rank sends how much to which others in one phase. Each pattern has one entry in the
 * table of operations. A pattern does not change once created; any thread may read it. */
#ifndef ZIP_MAPPER_PATTERN_H
#define ZIP_MAPPER_PATTERN_H

#include "common/base/err.h"
#include "mapper/base/spec.h"
#include "mapper/traffic/traffic.h"

struct pattern_edges;

struct pattern {
	const struct pattern_ops *ops;
	struct traffic_source source; /* the ranks and their messages; source.arg is this pattern */
	uint64_t bytes;		      /* of a message */
	uint64_t seed;
	uint32_t ndims, dims[4];
	uint32_t axis; /* many-to-many: the dimension along which subsets lie */
	int periodic;
	uint32_t least, most, range; /* partners of a rank: least to most, within `range` ranks; range 0: anywhere */
	struct pattern_edges *graph;
};

struct pattern_ops {
	const char *name, *title;
	const char *help; /* keys and defaults */
	/* ranks: as many as there are cores. The pattern may use fewer. */
	int (*create)(struct pattern *, struct spec *, uint32_t ranks, struct zerr *);
};

extern const struct pattern_ops *const pattern_table[]; /* NULL-terminated */

/* The number of ranks that the description itself asks for: by its dimensions, or by the graph's vertices. 0: it takes
 * any number. -EINVAL for an unknown name or bad dimensions. */
int pattern_wants(struct spec *, uint64_t *ranks, struct zerr *);
/* Makes the pattern that the name and the keys of spec describe. 0, -EINVAL, -ENOMEM, or an error of reading a file. */
int pattern_create(struct spec *, uint32_t ranks, uint64_t seed, struct pattern **, struct zerr *);
void pattern_destroy(struct pattern *);

#endif
