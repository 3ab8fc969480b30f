/* SPDX-License-Identifier: BSD-3-Clause */
/* The send queue of a link, see vtx_queue.h. */
#include "common/transport/verbs/link/vtx_queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "common/transport/verbs/device/vcollect.h"
#include "common/transport/verbs/link/vnotice.h"
#include "common/transport/verbs/link/vpath.h"

#define CREDIT_STEP 16 /* receives for credit, which are posted again so many at a time */
#define MESSAGE_MAX (ZWIRE_ENV_BYTES + (size_t)ZWIRE_MAX_PAYLOAD)
#define LIMIT_STEP_MAX 4096 /* a peer that gives more credit at a time is broken */

static int post_credit_receives(struct vtx *tx, uint32_t n)
{
	struct ibv_recv_wr wr[VCREDITS_MAX], *bad;
	for (uint32_t i = 0; i < n; i++)
		wr[i] = (struct ibv_recv_wr){.wr_id = VTAG_CREDIT, .next = i + 1 < n ? &wr[i + 1] : NULL};
	return n == 0 || ibv_post_recv(tx->queue.qp, wr, &bad) == 0 ? 0 : -EIO;
}

static int take_credit(struct vtx *tx, const struct ibv_wc *wc)
{
	if (wc->opcode != IBV_WC_RECV || !(wc->wc_flags & IBV_WC_WITH_IMM))
		return -EPROTO;
	uint32_t limit = ntohl(wc->imm_data), step = limit - tx->limit;
	if (step == 0 || step > LIMIT_STEP_MAX)
		return -EPROTO;
	tx->limit = limit;
	if (++tx->credits_used < CREDIT_STEP)
		return 0;
	tx->credits_used = 0;
	return post_credit_receives(tx, CREDIT_STEP);
}

/* Releases what the send with this number, and all sends before it, hold. */
static void release_to(struct vtx *tx, uint32_t number)
{
	while ((int32_t)(number - tx->head) >= 0) {
		struct vbuf **slot = &tx->slot[tx->head++ & tx->slot_mask];
		if (!*slot || tx->stopping)
			continue;
		vpass_put(tx->pass, tx->pool, *slot);
		*slot = NULL;
		tx->pool->shared += tx->held > VPOOL_OWN;
		tx->held--;
	}
}

static int take_completion(struct vlink *l, const struct ibv_wc *wc)
{
	struct vtx *tx = &l->tx;
	enum vtag tag = vtag_of(wc->wr_id);
	if (tag == VTAG_RMA) {
		struct vrma_slot *s = &tx->rma[vtag_value(wc->wr_id)];
		release_to(tx, vtag_number(wc->wr_id));
		s->rc = vlink_error(wc->status);
		s->done = true;
	} else if (tag == VTAG_LOCAL) {
		release_to(tx, vtag_number(wc->wr_id));
		tx->local = (struct vdone){true, vlink_error(wc->status)};
	}
	if (wc->status != IBV_WC_SUCCESS)
		return vlink_error(wc->status);
	if (tag == VTAG_CREDIT)
		return take_credit(tx, wc);
	if (tag == VTAG_SEND)
		release_to(tx, vtag_number(wc->wr_id));
	return 0;
}

int vtx_queue_reap(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	struct ibv_wc wc[VPOLL];
	int n = VPOLL, rc = 0;
	if (!tx->stopping)
		vpool_collect(tx->pool);
	while (n == VPOLL) {
		n = vcollect(tx->queue.cq, tx->queue.ex, VPOLL, wc);
		for (int i = 0; i < n; i++) {
			int e = take_completion(l, &wc[i]);
			rc = rc ? rc : e;
		}
	}
	rc = rc ? rc : n < 0 ? -EIO : vlink_lost(l);
	if (!tx->failing)
		tx->failing = rc;
	if (tx->failing && tx->list)
		vtx_queue_ring(l); /* so that the device tells what becomes of them */
	if (tx->failing && !tx->error)
		tx->error = vlink_reason(l, &tx->doubt, vlink_hung_up(l) ? -EPIPE : tx->failing);
	if (tx->error == -ETIMEDOUT && tx->head == 0)
		vlink_tell_path(l, false);
	return tx->error ? tx->error : tx->failing;
}

/* The device has not taken this request and those behind it, and will tell nothing about them. Nor must it take any
 * later ones, which the peer would take for these. */
static void not_posted(struct vtx *tx, const struct ibv_send_wr *wr)
{
	vpath_give_up(tx->queue.qp);
	for (; wr; wr = wr->next)
		if (vtag_of(wr->wr_id) == VTAG_RMA) {
			struct vrma_slot *s = &tx->rma[vtag_value(wr->wr_id)];
			s->rc = -EIO;
			s->done = true;
		}
	if (!tx->failing)
		tx->failing = -EIO;
}

int vtx_queue_ring(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	struct ibv_send_wr *bad = tx->wr;
	if (tx->list == 0)
		return 0;
	tx->wr[tx->list - 1].next = NULL;
	if (ibv_post_send(tx->queue.qp, tx->wr, &bad) != 0)
		not_posted(tx, bad);
	tx->list = 0;
	return tx->failing;
}

int vtx_queue_init(struct vlink *l, struct zerr *err)
{
	struct vtx *tx = &l->tx;
	tx->slot_mask = 1;
	while (tx->slot_mask < tx->depth)
		tx->slot_mask = 2 * tx->slot_mask + 1;
	tx->slot = calloc(tx->slot_mask + 1, sizeof(*tx->slot)); /* NOLINT(bugprone-sizeof-expression): pointers */
	tx->copy = malloc(VLIST_MAX * sizeof(*tx->copy));
	tx->rest = malloc(MESSAGE_MAX); /* only the used part becomes memory */
	if (!tx->slot || !tx->copy || !tx->rest)
		return zerr_set(err, -ENOMEM, "out of memory for a connection");
	if (!vnotice_await(&tx->queue, &tx->awaits, VNOTICE_ERRORS))
		return zerr_set(err, -EIO, "%s: cannot ask for the notice of errors", l->dev->name);
	tx->quiet = true;
	return post_credit_receives(tx, VCREDITS_MAX) == 0 ? 0 : zerr_set(err, -EIO, "cannot post receives");
}

void vtx_queue_fini(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	struct vbuf *chain = NULL;
	for (uint32_t i = 0; tx->slot && i <= tx->slot_mask; i++) {
		struct vbuf *b = tx->slot[i];
		if (!b)
			continue;
		b->next = chain;
		chain = b;
	}
	if (tx->pool)
		vpool_del_link(tx->pool, chain, tx->held > VPOOL_OWN ? (int32_t)tx->held - VPOOL_OWN : 0);
	free(tx->slot);
	free(tx->copy);
	free(tx->rest);
}
