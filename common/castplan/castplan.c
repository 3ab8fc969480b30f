/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans, see castplan.h: the table of all algorithms. */
#include "common/castplan/castplan.h"

#include <errno.h>
#include <string.h>

#include "common/castplan/castplan_base.h"
#include "common/castplan/castplan_hybrid.h"
#include "common/castplan/castplan_pipeline.h"
#include "common/castplan/castplan_simple.h"

static const struct zcastplan_ops *const table[ZCASTPLAN_ALGORITHMS] = {
	[ZCASTPLAN_SEQUENTIAL] = &zcastplan_simple_sequential,
	[ZCASTPLAN_TREE] = &zcastplan_simple_tree,
	[ZCASTPLAN_CHAIN] = &zcastplan_simple_chain,
	[ZCASTPLAN_PIPELINE] = &zcastplan_pipeline,
	[ZCASTPLAN_HYBRID_CHAIN] = &zcastplan_hybrid_chain,
	[ZCASTPLAN_HYBRID_PIPELINE] = &zcastplan_hybrid_pipeline,
};

int zcastplan_find(const char *name)
{
	for (int i = 0; i < ZCASTPLAN_ALGORITHMS; i++)
		if (strcmp(table[i]->name, name) == 0)
			return i;
	return -1;
}

uint64_t zcastplan_steps(const struct zcastplan_shape *shape)
{
	return zcastplan_base_steps(table[shape->algorithm], shape);
}

struct zcastplan *zcastplan_create(const struct zcastplan_shape *shape, uint32_t member)
{
	return zcastplan_base_create(table[shape->algorithm], shape, member);
}

void zcastplan_destroy(struct zcastplan *p)
{
	zcastplan_base_destroy(p);
}

int zcastplan_peers(const struct zcastplan_shape *shape, uint32_t member, bool *peer)
{
	struct zcastplan *p = zcastplan_create(shape, member);
	int rc = !p ? -ENOMEM : p->steps ? p->ops->peers(p, peer) : 0;
	zcastplan_destroy(p);
	return rc;
}

int zcastplan_first(const struct zcastplan_shape *shape, uint32_t member, uint32_t *from)
{
	struct zcastplan *p = zcastplan_create(shape, member);
	struct zcastplan_step step = {.from = ZCASTPLAN_NOBODY};
	if (!p)
		return -ENOMEM;
	while (step.from == ZCASTPLAN_NOBODY && zcastplan_next(p, &step))
		;
	*from = step.from;
	zcastplan_destroy(p);
	return 0;
}

bool zcastplan_next(struct zcastplan *p, struct zcastplan_step *out)
{
	return zcastplan_base_next(p, out);
}
