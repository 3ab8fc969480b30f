/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving the blocks of a group's messages, one message at a time. A member sends in the order of its plan, each block
 * as soon as it has it and the receiver is ready for the message; what arrives goes straight to its place in the memory
 * that the application gave for the message, whatever the order: copied there from messages, or written by the sender
 * (remote.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "zipcast/context.h"

#define SEND_BUDGET 16 /* blocks of one group in a turn */

static bool has_block(const struct message *m, uint32_t block)
{
	return !m->have || (m->have[block / 8] >> block % 8 & 1);
}

/* To the next step in which I send. */
static void advance(struct message *m)
{
	do
		m->sending = zcastplan_next(m->plan, &m->step);
	while (m->sending && m->step.to == ZCASTPLAN_NOBODY);
}

void zcast_message_drop(struct message *m)
{
	zcastplan_destroy(m->plan);
	free(m->have);
	*m = (struct message){.number = m->number};
}

static int begin(struct zipcast_group *g, void *data, uint64_t bytes)
{
	struct message *m = &g->message;
	m->bytes = bytes;
	m->data = data;
	m->blocks = (uint32_t)((bytes + g->block_bytes - 1) / g->block_bytes);
	m->missing = g->me ? m->blocks : 0;
	m->have = g->me ? calloc((m->blocks + 7) / 8, 1) : NULL;
	struct zcastplan_shape shape = {g->algorithm, g->nmembers, m->blocks, g->site};
	m->plan = zcastplan_create(&shape, g->me);
	if (!m->plan || (g->me && !m->have))
		return -ENOMEM;
	m->number++;
	m->active = true;
	advance(m);
	return 0;
}

static uint32_t block_bytes(const struct zipcast_group *g, uint32_t block)
{
	uint64_t left = g->message.bytes - (uint64_t)block * g->block_bytes;
	return left < g->block_bytes ? (uint32_t)left : g->block_bytes;
}

static void finish(struct zipcast_group *g)
{
	void *data = g->message.data;
	uint64_t bytes = g->message.bytes;
	for (uint32_t i = 0; i < g->nmembers; i++)
		zcast_remote_conceal(&g->member[i]);
	zcast_remote_unpin(g);
	zcast_message_drop(&g->message);
	zcast_runnable(g); /* to say that we are ready for the next one, or to send it */
	if (g->events.complete)
		g->events.complete(g->events.arg, data, bytes);
	if (g->cut_off && g->message.number >= g->cut_off && !g->ended)
		zcast_group_cut_off(g);
}

static bool begin_next(struct zipcast_group *g)
{
	struct outgoing *o = g->queue;
	if (!o || zcast_group_lacks(g, g->message.number + 1))
		return false;
	g->queue = o->next;
	if (!g->queue)
		g->queue_tail = &g->queue;
	int rc = begin(g, o->data, o->bytes);
	free(o);
	if (rc != 0)
		zcast_group_fail(g, "out of memory for the plan of a message");
	return rc == 0;
}

/* One writer: no locked instruction is needed. */
static void add(atomic_ullong *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

static void count_sent(struct member *to, uint32_t bytes)
{
	add(&to->sent_blocks, 1);
	add(&to->sent_bytes, bytes);
}

/* 0: sent; -EAGAIN: later. */
static int send_block(struct zipcast_group *g)
{
	struct message *m = &g->message;
	struct member *to = &g->member[m->step.to];
	uint32_t block = m->step.send_block, len = block_bytes(g, block);
	uint64_t offset = (uint64_t)block * g->block_bytes;
	if (!has_block(m, block) || to->ready < m->number)
		return -EAGAIN;
	if (to->key_for == m->number) {
		int rc = zcast_remote_write(to, offset, len);
		if (rc == 0)
			count_sent(to, len);
		if (rc != -EOPNOTSUPP)
			return rc;
	}
	if (to->first_only && m->blocks > to->first_of)
		return -EAGAIN;
	struct zwire_env env = {.kind = ZWIRE_BLOCK,
		.src = g->zc->me,
		.dst = to->node->number,
		.comm = g->number,
		.xfer = m->number,
		.seq = m->bytes,
		.offset = offset,
		.len = len};
	if (zcast_node_post(to->node, &env, m->data + offset) != 0)
		return -EAGAIN;
	count_sent(to, len);
	if (to->first_only)
		to->ready--;
	return 0;
}

void zcast_message_progress(struct zipcast_group *g)
{
	struct message *m = &g->message;
	if (g->ended || atomic_load(&g->failed))
		return;
	if (g->untold || (g->me != 0 && !m->active))
		zcast_say_ready(g);
	if (!m->active && !begin_next(g))
		return;
	for (int budget = SEND_BUDGET; m->sending; advance(m)) {
		if (budget-- == 0) {
			zcast_runnable(g);
			return;
		}
		if (send_block(g) != 0)
			return; /* runnable again when the block, READY or room comes */
	}
	if (m->missing == 0 && g->writes == 0)
		finish(g);
}

/* --- receiving --- */

/* How many blocks of the message are to come from whom. */
static void count_due(struct zipcast_group *g)
{
	const struct zcastplan_shape shape = {g->algorithm, g->nmembers, g->message.blocks, g->site};
	struct zcastplan *plan = zcastplan_create(&shape, g->me);
	struct zcastplan_step step;
	for (uint32_t i = 0; i < g->nmembers; i++)
		g->member[i].due = 0;
	while (plan && zcastplan_next(plan, &step))
		if (step.from != ZCASTPLAN_NOBODY && !has_block(&g->message, step.recv_block))
			g->member[step.from].due++;
	zcastplan_destroy(plan);
}

/* The group that takes a block, or NULL: nobody does, any more. */
static struct zipcast_group *receiver(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = env->comm <= UINT32_MAX ? zcast_group_find(n->zc, (uint32_t)env->comm) : NULL;
	return g && !atomic_load(&g->failed) ? g : NULL;
}

static const char *wrong_with(struct zipcast_group *g, const struct node *n, const struct zwire_env *env)
{
	const struct message *m = &g->message;
	const struct member *from = zcast_member_find(g, n);
	if (g->me == 0 || !from)
		return "it sends blocks to one who does not receive any";
	if (env->kind == ZWIRE_WRITTEN && !from->exposed)
		return "it says that it has written to memory which it does not reach";
	if (env->xfer != m->number + !m->active || (m->active && env->seq != m->bytes))
		return "its blocks belong to no message that was asked for";
	uint64_t blocks = (env->seq - 1) / g->block_bytes + 1, block = env->offset / g->block_bytes;
	if (env->seq == 0 || blocks > INT32_MAX || env->offset % g->block_bytes || block >= blocks)
		return "a block's place is outside of the message";
	if (env->kind == ZWIRE_BLOCK && env->len != (block + 1 < blocks ? g->block_bytes : env->seq - env->offset))
		return "a block has another size than it should have";
	if (m->active && has_block(m, (uint32_t)block))
		return "it sent a block twice";
	return NULL;
}

/* True: the group has failed by it. */
static bool is_wrong(struct zipcast_group *g, const struct node *n, const struct zwire_env *env)
{
	char why[ZIPCAST_WHY_BYTES];
	const char *wrong = wrong_with(g, n, env);
	if (!wrong)
		return false;
	snprintf(why, sizeof(why), "node %u: %s", n->number, wrong);
	zcast_group_fail(g, why);
	return true;
}

void *zcast_message_place(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = receiver(n, env);
	char why[ZIPCAST_WHY_BYTES];
	if (!g || is_wrong(g, n, env))
		return NULL;
	if (!g->message.active) {
		if (zcast_group_lacks(g, g->message.number + 1))
			return NULL;
		void *data = g->events.incoming(g->events.arg, env->seq);
		if (g->ended)
			return NULL;
		if (!data || begin(g, data, env->seq) != 0) {
			snprintf(why, sizeof(why), "node %u has no memory for a message of %llu bytes", g->zc->me,
				(unsigned long long)env->seq);
			zcast_group_fail(g, why);
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
		if (g->zc->one_sided != ZCAST_ONE_SIDED_NO)
			count_due(g);
		g->untold = true; /* that there is memory now */
	}
	zcast_runnable(g);
}

void zcast_message_take(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = receiver(n, env);
	if (g && g->message.active && env->xfer == g->message.number)
		take_block(g, (uint32_t)(env->offset / g->block_bytes));
}

void zcast_message_written(struct node *n, const struct zwire_env *env)
{
	struct zipcast_group *g = receiver(n, env);
	if (g && !is_wrong(g, n, env))
		take_block(g, (uint32_t)(env->offset / g->block_bytes));
}
