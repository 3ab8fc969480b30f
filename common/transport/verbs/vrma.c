/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations, the initiator's side. vexpose.h has the owner's side and the form of the key. The initiator
 * reads on the queue pair of its receive half and writes on that of its send half; every operation reports its
 * completion. */
#include "common/transport/verbs/vrma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/endpoint/ep_ibv.h"
#include "common/transport/verbs/device/vregion.h"
#include "common/transport/verbs/device/vshare.h"
#include "common/transport/verbs/link/vexpose.h"
#include "common/transport/verbs/link/vpath.h"
#include "common/transport/verbs/link/vrx.h"
#include "common/transport/verbs/link/vtx_queue.h"

/* All messages by rendezvous: shorter ones than eager_bytes do not come here. Not measured on hardware. */
#define MIN_BYTES 4096
#define MAX_BYTES ((size_t)1 << 30)
#define GONE_MS 1000 /* after the device was asked to end an operation; a device that works does so in microseconds */

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

/* --- memory of the initiator --- */

/* The protection domain of the half's seat: the device's or its own, by category. NULL: the half has no queue pair. */
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
	zep_ibv_ask();
	r->mr = ibv_reg_mr(pd, memory, len, IBV_ACCESS_LOCAL_WRITE);
	if (!r->mr) {
		const int code = zep_ibv_refusal();
		int rc = zerr_set(err, -code, "%s: cannot register %zu KiB: %s (see ulimit -l)", l->dev->name,
			len / 1024, strerror(code));
		free(r);
		return rc;
	}
	r->share = l->share[half];
	atomic_fetch_add(&r->share->regions, 1); /* the share stays as long as the region does */
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
	if (atomic_load_explicit(&l->told_path, memory_order_relaxed))
		return;
	out->reads = l->reads;
	out->writes = VRMA_MAX;
}

/* One queue pair for both, and no way back to TCP. */
static bool is_ordered(const struct zlink *base)
{
	return ((const struct vlink *)base)->tx.mode == VMODE_QUEUE;
}

/* --- operations --- */

/* -1: all slots are in use. */
static int free_slot(const struct vrma_slot slot[VRMA_MAX])
{
	for (int i = 0; i < VRMA_MAX; i++)
		if (!slot[i].used)
			return i;
	return -1;
}

/* Fills in where the peer's bytes are, as the peer says. The peer's device refuses an access outside them. */
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
	if (rx->way == VRX_WAY_NONE) /* messages go on by TCP, but the peer may not know that there is no other way */
		return rx->broken;
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
	struct ibv_send_wr *wr = vtx_queue_next(l, &sge);
	find_remote(wr, op);
	*sge = local_of(op);
	wr->opcode = IBV_WR_RDMA_WRITE;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->wr_id = vtag_make(VTAG_RMA, tx->tail - 1, (uint32_t)i);
	tx->run = tx->run_held = 0; /* everything before it is complete with it */
	tx->rma[i] = (struct vrma_slot){.cookie = op->cookie, .used = true};
	tx->writes++;
	if (!op->more)
		vtx_queue_ring(l); /* reap tells if that fails */
	return 0;
}

/* --- what becomes of them --- */

struct side { /* the parts of a half that reap needs */
	struct vrma_slot *slot;
	uint32_t *under_way, *vain;
	int64_t *given_up_ms;
	int *broken;
	struct ibv_qp *qp;
};

static struct side side_of(struct vlink *l, enum zlink_half half)
{
	if (half == ZLINK_RX)
		return (struct side){l->rx.rma, &l->rx.reads, &l->rx.reaps, &l->rx.given_up_ms, &l->rx.broken,
			l->rx.queue.qp};
	return (struct side){l->tx.rma, &l->tx.writes, &l->tx.reaps, &l->tx.given_up_ms, &l->tx.failing,
		l->tx.queue.qp};
}

static unsigned take_done(const struct side *s, struct zrma_done *done, unsigned cap)
{
	unsigned n = 0;
	for (int i = 0; i < VRMA_MAX && n < cap && *s->under_way; i++) {
		if (!s->slot[i].done || !s->slot[i].used)
			continue;
		done[n++] =
			(struct zrma_done){.cookie = s->slot[i].cookie, .rc = s->slot[i].rc, .held = s->slot[i].held};
		s->slot[i] = (struct vrma_slot){.used = false};
		--*s->under_way;
	}
	return n;
}

/*
 * A queue pair in its error state completes all that it has. A lost device, or a completion queue that has failed, does
 * not. So operations under way are given up a while later without completion. Their memory is then used for something
 * else, so the device must have done with it. Nothing tells us that: the device's own end, in which the kernel takes
 * all memory from it, comes some milliseconds after the event, and every call fails in between as it does afterwards.
 * An operation that a working device has begun by then takes microseconds and is reported, or waits for a peer that
 * does not answer. A device that does not work writes no more; the kernel's own users of a device are told that at once
 * by its driver (mlx5: handle_drain_completion).
 *
 * A device that is there but does not obey (a command of its firmware times out) may go on with its operations. The
 * owner of the memory is told that (`held`).
 */
static void end_all(struct vlink *l, const struct side *s, int rc)
{
	const int64_t now = zclock_ms();
	if (*s->given_up_ms == 0 || *s->vain % VLOOK_EVERY == 0)
		vpath_give_up(s->qp);
	if (*s->given_up_ms == 0)
		*s->given_up_ms = now;
	if (now - *s->given_up_ms < GONE_MS)
		return;
	const bool held =
		!vlink_lost(l) && s->qp->state != IBV_QPS_ERR; /* libibverbs notes the state after a success */
	if (!*s->broken)
		*s->broken = rc ? rc : vlink_lost(l) ? vlink_lost(l) : -EIO;
	for (int i = 0; i < VRMA_MAX; i++)
		if (s->slot[i].used && !s->slot[i].done) {
			s->slot[i].rc = *s->broken;
			s->slot[i].done = true;
			s->slot[i].held = held;
		}
}

static int reap(struct zlink *base, enum zlink_half half, struct zrma_done *done, unsigned cap)
{
	struct vlink *l = (struct vlink *)base;
	if (!vlink_is_ready(l))
		return 0;
	const struct side s = side_of(l, half);
	const int broken = half == ZLINK_RX ? vrx_reap(l) : vtx_queue_reap(l), lost = vlink_lost(l);
	const int error = half == ZLINK_RX ? l->rx.error : l->tx.error, rc = error ? error : broken ? broken : lost;
	unsigned n = take_done(&s, done, cap);
	if (n > 0) {
		*s.vain = 0;
		return (int)n;
	}
	if (*s.under_way > 0) {
		const bool looks = ++*s.vain % VLOOK_EVERY == 0;
		if (looks)
			vlink_look(l);
		/* The device would tell only seconds later that a peer has died. */
		if (rc || *s.given_up_ms || (looks && vlink_hung_up(l)))
			end_all(l, &s, rc);
		return 0;
	}
	if (half == ZLINK_RX && !error && rc)
		return vlink_reason(l, &l->rx.doubt, rc); /* messages that have come can still be polled */
	return error;					  /* 0: the reason is not known yet */
}

static void give_up(struct zlink *base, enum zlink_half half)
{
	struct vlink *l = (struct vlink *)base;
	if (!vlink_is_ready(l))
		return;
	const struct side s = side_of(l, half);
	vpath_give_up(s.qp);
	if (half == ZLINK_TX)
		vtx_queue_ring(l); /* so that the device tells what becomes of them */
	if (!*s.given_up_ms)
		*s.given_up_ms = zclock_ms();
}

const struct zrma vrma = {
	.expose = vexpose,
	.conceal = vexpose_conceal,
	.domain = domain,
	.reg = reg,
	.unreg = unreg,
	.pin = vexpose_pin,
	.unpin = vexpose_unpin,
	.is_lost = is_lost,
	.limits = limits,
	.is_ordered = is_ordered,
	.read = read_remote,
	.write = write_remote,
	.reap = reap,
	.give_up = give_up,
	.min_bytes = MIN_BYTES,
};
