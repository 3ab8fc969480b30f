/* SPDX-License-Identifier: BSD-3-Clause */
/* What the algorithms have in common: each is one file and a line of the table in castplan.c. */
#ifndef ZIP_COMMON_CASTPLAN_INTERNAL_H
#define ZIP_COMMON_CASTPLAN_INTERNAL_H

#include "common/castplan/castplan.h"

/* Two members on one vertex of the hypercube: the block that only the first has, and that only the second has. What the
 * vertex has got besides, both have. */
struct zcast_vertex {
	uint32_t only[2];
};

struct zcast_plan {
	const struct zcast_plan_ops *ops;
	uint32_t members, blocks, me;
	uint64_t next; /* step to look at */
	uint64_t steps;
	union {
		struct {
			uint32_t dimensions, vertex, slot;
			/* of the neighbour in each dimension, and my own */
			struct zcast_vertex neighbour[ZCAST_DIMENSIONS], own;
		} cube;
		struct {
			struct zcast_plan *top, *inner;
			uint32_t *leaders, *locals; /* their members -> members */
			uint64_t delay;		    /* of the inner plan, in its steps */
			struct zcast_step top_step, inner_step;
			bool have_top, have_inner;
		} hybrid;
	} u;
};

struct zcast_plan_ops {
	const char *name;
	uint64_t (*steps)(const struct zcast_shape *);
	/* Prepares p.u; members, blocks, me, steps are set. 0 or -ENOMEM. NULL: nothing to prepare. */
	int (*begin)(struct zcast_plan *, const struct zcast_shape *);
	/* The next step of the member from p.next on. The step's four fields are set to "nothing" before. */
	bool (*next)(struct zcast_plan *, struct zcast_step *);
	int (*peers)(const struct zcast_plan *, bool *peer); /* 0 or -ENOMEM */
	void (*end)(struct zcast_plan *);		     /* or NULL */
};

extern const struct zcast_plan_ops zcast_plan_sequential, zcast_plan_tree, zcast_plan_chain, zcast_plan_pipeline,
	zcast_plan_hybrid_chain, zcast_plan_hybrid_pipeline;

/* The smallest d with 2^d >= n, n > 0. */
uint32_t zcast_log2_ceil(uint32_t n);

#endif
