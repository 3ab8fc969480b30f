/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks blocks that arrive, and notes them; see receive.h. */
#include "zipcast/receive.h"

#include <stdio.h>

#include "zipcast/end.h"

/* Counts the blocks of the message that each member will send us. */
static void count_due(struct zipcast_group *g)
{
	struct zcastplan_shape shape = zgroup_shape(g);
	shape.blocks = g->message.blocks;
	struct zcastplan *plan = zcastplan_create(&shape, g->me);
	struct zcastplan_step step;
	for (uint32_t i = 0; i < g->nmembers; i++)
		g->member[i].due = 0;
	while (plan && zcastplan_next(plan, &step))
		if (step.from != ZCASTPLAN_NOBODY && !zmessage_has(&g->message, step.recv_block))
			g->member[step.from].due++;
	zcastplan_destroy(plan);
}

/* The group that takes a block, or NULL if it is gone or has failed. */
static struct zipcast_group *receiver(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = zgroup_of(n->zc, env);
	return g && !atomic_load(&g->failed) ? g : NULL;
}

static const char *wrong_with(struct zipcast_group *g, const struct node *n, const struct zwire_env *env)
{
	const struct message *m = &g->message;
	const struct member *from = zgroup_find_member(g, n);
	if (g->me == 0 || !from)
		return "it sends blocks to a node that does not receive any";
	if (env->kind == ZWIRE_WRITTEN && !from->exposed)
		return "it says that it has written to memory that is not open to it";
	if (env->xfer != m->number + !m->active || (m->active && env->seq != m->bytes))
		return "its blocks belong to no message that was asked for";
	uint64_t blocks = (env->seq - 1) / g->block_bytes + 1, block = env->offset / g->block_bytes;
	if (env->seq == 0 || blocks > INT32_MAX || env->offset % g->block_bytes || block >= blocks)
		return "a block lies outside of the message";
	if (env->kind == ZWIRE_BLOCK && env->len != (block + 1 < blocks ? g->block_bytes : env->seq - env->offset))
		return "a block has the wrong size";
	if (m->active && zmessage_has(m, (uint32_t)block))
		return "it sent a block twice";
	return NULL;
}

/* True: the block is wrong, and the group has failed. */
static bool is_wrong(struct zipcast_group *g, const struct node *n, const struct zwire_env *env)
{
	char why[ZIPCAST_WHY_BYTES];
	const char *wrong = wrong_with(g, n, env);
	if (!wrong)
		return false;
	const struct member *from = zgroup_find_member(g, n);
	snprintf(why, sizeof(why), "node %u: %s", n->number, wrong);
	zend_fail(g, from ? zgroup_place(from) : ZIPCAST_NOBODY, why);
	return true;
}

void *zreceive_place(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = receiver(n, env);
	char why[ZIPCAST_WHY_BYTES];
	if (!g || is_wrong(g, n, env))
		return NULL;
	if (!g->message.active) {
		if (zend_lacks_member(g, g->message.number + 1))
			return NULL;
		struct zcastplan_shape shape = zgroup_shape(g);
		void *data = g->events.incoming(g->events.arg, env->seq);
		if (g->ended)
			return NULL;
		if (!data || zmessage_begin(&g->message, &shape, g->me, data, env->seq, g->block_bytes) != 0) {
			snprintf(why, sizeof(why), "node %u has no memory for a message of %llu bytes", g->zc->me,
				(unsigned long long)env->seq);
			zend_fail(g, g->me, why);
			return NULL;
		}
	}
	return g->message.data + env->offset;
}

static void take_block(struct zipcast_group *g, uint32_t block)
{
	struct message *m = &g->message;
	const bool first = m->missing == m->blocks;
	m->have[block / 8] |= (uint8_t)(1u << block % 8);
	m->missing--;
	if (first && m->missing > 0) {
		if (g->zc->one_sided != ZMODULES_ONE_SIDED_NO)
			count_due(g);
		g->untold = true; /* there is memory now */
	}
	zgroup_set_runnable(g);
}

/* The block is checked again: one without bytes has no place, and another node may have sent the same one meanwhile. */
void zreceive_take(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = receiver(n, env);
	if (g && !is_wrong(g, n, env) && g->message.active)
		take_block(g, (uint32_t)(env->offset / g->block_bytes));
}

void zreceive_written(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = receiver(n, env);
	if (g && !is_wrong(g, n, env))
		take_block(g, (uint32_t)(env->offset / g->block_bytes));
}
