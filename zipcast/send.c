/* SPDX-License-Identifier: BSD-3-Clause */
/* A group's turn: says READY, sends blocks, finishes messages; see send.h. */
#include "zipcast/send.h"

#include <errno.h>
#include <stdlib.h>

#include "zipcast/barrier.h"
#include "zipcast/end.h"
#include "zipcast/ready.h"
#include "zipcast/remote.h"

#define SEND_BUDGET 16 /* blocks of one group in a turn */

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
		zremote_conceal(&g->member[i]);
	zremote_unpin(g);
	zmessage_drop(&g->message);
	zgroup_set_runnable(g); /* to say READY for the next message, or to send it */
	if (g->events.complete)
		g->events.complete(g->events.arg, data, bytes);
	zend_reach(g);
	if (g->cut_off && g->message.number >= g->cut_off && !atomic_load(&g->failed))
		zend_cut_off(g);
}

static bool begin_next(struct zipcast_group *g)
{
	struct outgoing *o = g->queue;
	if (!o && g->all_queued) {
		g->end = g->message.number;
		g->end_barriers = g->entered;
		zend_reach(g);
	}
	if (!o || zend_lacks_member(g, g->message.number + 1))
		return false;
	g->queue = o->next;
	if (!g->queue)
		g->queue_tail = &g->queue;
	struct zcastplan_shape shape = zgroup_shape(g);
	int rc = zmessage_begin(&g->message, &shape, g->me, o->data, o->bytes, g->block_bytes);
	free(o);
	if (rc != 0)
		zend_fail(g, g->me, "out of memory for the plan of a message");
	return rc == 0;
}

/* There is one writer: no locked instruction is needed. */
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
	if (!zmessage_has(m, block) || to->ready < m->number)
		return -EAGAIN;
	if (to->key_for == m->number) {
		int rc = zremote_write(to, offset, len);
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
	if (znode_post(to->node, &env, m->data + offset) != 0)
		return -EAGAIN;
	count_sent(to, len);
	if (to->first_only)
		to->ready--;
	return 0;
}

void zsend_progress(struct zipcast_group *g)
{
	struct message *m = &g->message;
	if (g->ended || atomic_load(&g->failed))
		return;
	if (g->entries)
		zbarrier_progress(g);
	if (atomic_load(&g->failed))
		return;
	if (g->untold || (g->me != 0 && !m->active))
		zready_say(g);
	if (!m->active && !begin_next(g))
		return;
	for (int budget = SEND_BUDGET; m->sending; zmessage_advance(m)) {
		if (budget-- == 0) {
			zgroup_set_runnable(g);
			return;
		}
		if (send_block(g) != 0)
			return; /* the block, READY or room makes the group runnable again */
	}
	if (m->missing == 0 && g->writes == 0)
		finish(g);
}
