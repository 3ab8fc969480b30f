/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations, the initiator's side; the owner's, and what the key looks like, is in expose.h. The initiator
 * reads on the queue pair of its receive half and writes on that of its send half; every operation reports its
 * completion.
 */
#include "rma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expose.h"
#include "share.h"

/* All rendezvous: what is shorter than eager_bytes is not asked about. Not measured on hardware. */
#define MIN_BYTES 4096
#define MAX_BYTES ((size_t)1 << 30)

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

/* --- memory of the initiator --- */

/* That of the half's seat, which by category is the device's or its own. NULL: it has no queue pair. */
static struct ibv_pd *domain_of(const struct vlink *l, enum zlink_half half)
{
	const struct vpool *pool = half == ZLINK_RX ? l->rx.pool : l->tx.pool;
	return pool ? pool->home.pd : NULL;
}

static const void *domain(const struct zlink *base, enum zlink_half half)
{
	return domain_of((const struct vlink *)base, half);
}

static int reg(struct zlink *base, enum zlink_half half, void *memory, size_t len, struct zregion **out,
	struct zerr *err)
{
	struct vlink *l = (struct vlink *)base;
	struct ibv_pd *pd = domain_of(l, half);
	if (!pd)
		return zerr_set(err, -EOPNOTSUPP, "%s: no queue pair to register memory for", l->base.peer);
	struct zregion *r = calloc(1, sizeof(*r));
	if (!r)
		return zerr_set(err, -ENOMEM, "out of memory");
	r->mr = ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE);
	if (!r->mr) {
		int rc = zerr_set(err, errno ? -errno : -EIO, "%s: cannot register %zu KiB: %s (see ulimit -l)",
			l->dev->name, len / 1024, strerror(errno));
		free(r);
		return rc;
	}
	r->share = l->share[half];
	atomic_fetch_add(&r->share->regions, 1); /* which stays as long as the region does */
	*out = r;
	return 0;
}

static void unreg(struct zregion *r)
{
	ibv_dereg_mr(r->mr);
	atomic_fetch_sub(&r->share->regions, 1);
	free(r);
}

static bool is_lost(const struct zregion *r)
{
	return vdevice_is_lost(r->share->home.dev);
}

static void limits(const struct zlink *base, struct zrma_limits *out)
{
	const struct vlink *l = (const struct vlink *)base;
	*out = (struct zrma_limits){.max_bytes = MAX_BYTES};
	if (!vlink_is_ready(l))
		return;
	if (l->address.max_bytes < out->max_bytes)
		out->max_bytes = l->address.max_bytes;
	out->reads = l->reads;
	out->writes = VRMA_MAX;
}

/* One queue pair for both, and no way back. */
static bool is_ordered(const struct zlink *base)
{
	return ((const struct vlink *)base)->tx.mode == VMODE_QUEUE;
}

/* --- operations --- */

/* -1: all are in use. */
static int free_slot(const struct vrma_slot slot[VRMA_MAX])
{
	for (int i = 0; i < VRMA_MAX; i++)
		if (!slot[i].used)
			return i;
	return -1;
}

/* Where the peer's bytes are, as it says. Its device refuses what is not within them. */
static void find_remote(struct ibv_send_wr *wr, const struct zrma_op *op)
{
	wr->wr.rdma.remote_addr = get(op->key, 8) + op->offset;
	wr->wr.rdma.rkey = (uint32_t)get(op->key + 8, 4);
}

static struct ibv_sge local_of(const struct zrma_op *op)
{
	return (struct ibv_sge){.addr = (uintptr_t)op->local,
		.length = (uint32_t)op->len,
		.lkey = op->region->mr->lkey};
}

static int read_remote(struct zlink *base, const struct zrma_op *op)
{
	struct vlink *l = (struct vlink *)base;
	struct vrx *rx = &l->rx;
	struct ibv_sge sge = local_of(op);
	struct ibv_send_wr *bad,
		wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED};
	int i = rx->reads < l->reads ? free_slot(rx->rma) : -1;
	if (rx->error)
		return rx->error;
	if (i < 0 || rx->broken) /* poll finds out why */
		return -EAGAIN;
	wr.wr_id = vtag_make(VTAG_RMA, 0, (uint32_t)i);
	find_remote(&wr, op);
	if (ibv_post_send(rx->queue.qp, &wr, &bad) != 0) {
		rx->broken = -EIO;
		return -EAGAIN;
	}
	rx->rma[i] = (struct vrma_slot){.cookie = op->cookie, .used = true};
	rx->reads++;
	return 0;
}

static int write_remote(struct zlink *base, const struct zrma_op *op)
{
	struct vlink *l = (struct vlink *)base;
	struct vtx *tx = &l->tx;
	struct ibv_sge *sge;
	int i = free_slot(tx->rma);
	if (tx->error)
		return tx->error;
	if (i < 0 || tx->failing || tx->tail - tx->head >= tx->depth - 1)
		return -EAGAIN;
	struct ibv_send_wr *wr = vtx_next(l, &sge);
	find_remote(wr, op);
	*sge = local_of(op);
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr_id = vtag_make(VTAG_RMA, tx->tail - 1, (uint32_t)i);
	tx->run = tx->run_held = 0; /* everything before it is complete with it */
	tx->rma[i] = (struct vrma_slot){.cookie = op->cookie, .used = true};
	tx->writes++;
	if (!op->more)
		vtx_ring(l); /* reap says so if that fails */
	return 0;
}

static int reap(struct zlink *base, enum zlink_half half, struct zrma_done *done, unsigned cap)
{
	struct vlink *l = (struct vlink *)base;
	struct vrma_slot *slot = half == ZLINK_RX ? l->rx.rma : l->tx.rma;
	uint32_t *under_way = half == ZLINK_RX ? &l->rx.reads : &l->tx.writes;
	unsigned n = 0;
	if (!vlink_is_ready(l))
		return 0;
	uint32_t *vain = half == ZLINK_RX ? &l->rx.reaps : &l->tx.reaps;
	const int broken = half == ZLINK_RX ? vrx_reap(l) : vtx_reap(l);
	const int error = half == ZLINK_RX ? l->rx.error : l->tx.error;
	for (int i = 0; i < VRMA_MAX && n < cap && *under_way; i++) {
		if (!slot[i].done)
			continue;
		done[n++] = (struct zrma_done){.cookie = slot[i].cookie, .rc = slot[i].rc};
		slot[i] = (struct vrma_slot){.used = false};
		--*under_way;
	}
	if (n > 0)
		*vain = 0;
	/* Of a peer that has died the device would tell only seconds later. */
	if (n == 0 && !(broken || error) && *under_way && ++*vain % VLOOK_EVERY == 0 && vlink_hung_up(l))
		vpath_give_up(half == ZLINK_RX ? l->rx.queue.qp : l->tx.queue.qp);
	if (n > 0 || !(broken || error))
		return (int)n;
	if (*under_way == 0 && half == ZLINK_RX && !error)
		return vlink_reason(l, &l->rx.doubt, broken); /* what has come can still be polled */
	if (*under_way == 0)
		return error; /* 0: it is not known yet */
	vpath_give_up(half == ZLINK_RX ? l->rx.queue.qp : l->tx.queue.qp);
	return 0;
}

static void give_up(struct zlink *base, enum zlink_half half)
{
	struct vlink *l = (struct vlink *)base;
	if (!vlink_is_ready(l))
		return;
	if (half == ZLINK_RX && !l->rx.broken)
		l->rx.broken = -ETIMEDOUT;
	if (half == ZLINK_TX && !l->tx.failing)
		l->tx.failing = -ETIMEDOUT;
	vpath_give_up(half == ZLINK_RX ? l->rx.queue.qp : l->tx.queue.qp);
}

const struct zrma vrma = {
	.expose = vexpose,
	.conceal = vconceal,
	.domain = domain,
	.reg = reg,
	.unreg = unreg,
	.pin = vpin,
	.unpin = vunpin,
	.is_lost = is_lost,
	.limits = limits,
	.is_ordered = is_ordered,
	.read = read_remote,
	.write = write_remote,
	.reap = reap,
	.give_up = give_up,
	.min_bytes = MIN_BYTES,
};
