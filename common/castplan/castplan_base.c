/* SPDX-License-Identifier: BSD-3-Clause */
/* A member's part of a plan, see castplan_base.h. */
#include "common/castplan/castplan_base.h"

#include <stdlib.h>

uint64_t zcastplan_base_steps(const struct zcastplan_ops *ops, const struct zcastplan_shape *shape)
{
	return shape->members < 2 ? 0 : ops->steps(shape);
}

struct zcastplan *zcastplan_base_create(const struct zcastplan_ops *ops, const struct zcastplan_shape *shape,
	uint32_t member)
{
	struct zcastplan *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->ops = ops;
	p->members = shape->members;
	p->blocks = shape->blocks;
	p->me = member;
	p->steps = zcastplan_base_steps(ops, shape);
	if (p->steps == UINT64_MAX || (p->steps && ops->begin && ops->begin(p, shape) != 0)) {
		zcastplan_base_destroy(p);
		return NULL;
	}
	return p;
}

void zcastplan_base_destroy(struct zcastplan *p)
{
	if (p && p->ops->end)
		p->ops->end(p);
	free(p);
}
