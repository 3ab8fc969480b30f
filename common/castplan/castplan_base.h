/* SPDX-License-Identifier: BSD-3-Clause */
/* A member's part of a plan, for an algorithm that is given as a table of operations. castplan.c lists all algorithms;
 * each algorithm is a table of operations in a file of its own. */
#ifndef ZIP_COMMON_CASTPLAN_CASTPLAN_BASE_H
#define ZIP_COMMON_CASTPLAN_CASTPLAN_BASE_H

#include "common/castplan/castplan.h"

/* Two members on one vertex of the hypercube: the block that only the first member has, and the block that only the
 * second member has. Both have all other blocks of the vertex. */
struct zcastplan_vertex {
	uint32_t only[2];
};

struct zcastplan {
	const struct zcastplan_ops *ops;
	uint32_t members, blocks, me;
	uint64_t next; /* the step to look at */
	uint64_t steps;
	union {
		struct {
			uint32_t dimensions, vertex, slot;
			/* of the neighbour in each dimension, and of this member */
			struct zcastplan_vertex neighbour[ZCASTPLAN_DIMENSIONS], own;
		} cube;
		struct {
			struct zcastplan *top, *inner;
			uint32_t *leaders, *locals; /* from a number in that plan to a member */
			uint64_t delay;		    /* of the inner plan, in its steps */
			struct zcastplan_step top_step, inner_step;
			bool have_top, have_inner;
		} hybrid;
	} u;
};

struct zcastplan_ops {
	const char *name;
	uint64_t (*steps)(const struct zcastplan_shape *);
	/* Prepares p.u; members, blocks, me and steps are set. Returns 0 or -ENOMEM. NULL: there is nothing to prepare.
	 */
	int (*begin)(struct zcastplan *, const struct zcastplan_shape *);
	/* Gives the member's next step from p.next on. The step's four fields are "nothing" before. */
	bool (*next)(struct zcastplan *, struct zcastplan_step *);
	int (*peers)(const struct zcastplan *, bool *peer); /* 0 or -ENOMEM */
	void (*end)(struct zcastplan *);		    /* or NULL */
};

/* The smallest d with 2^d >= n, n > 0. */
static inline uint32_t zcastplan_base_log2(uint32_t n)
{
	return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

/* The steps of the whole group; hybrids: see zcastplan_steps. */
uint64_t zcastplan_base_steps(const struct zcastplan_ops *, const struct zcastplan_shape *);
/* The part of one member. shape->algorithm is not looked at. NULL: out of memory. */
struct zcastplan *zcastplan_base_create(const struct zcastplan_ops *, const struct zcastplan_shape *, uint32_t member);
void zcastplan_base_destroy(struct zcastplan *);
/* As zcastplan_next. */
static inline bool zcastplan_base_next(struct zcastplan *p, struct zcastplan_step *out)
{
	*out = (struct zcastplan_step){.to = ZCASTPLAN_NOBODY, .from = ZCASTPLAN_NOBODY};
	return p->steps > 0 && p->ops->next(p, out);
}

#endif
