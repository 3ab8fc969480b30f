/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send half. Small messages go by value (inline), larger ones from registered buffers, into which they are copied,
 * as the caller may have its memory back, unless they lie in one already (pass.h). Both are collected in a list, which
 * is handed to the device when it is full, at flush, and where something has to be waited for. A message that there are
 * not enough credits or buffers for is taken all the same if its beginning can go; until the rest has gone, nothing
 * more is taken.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/collect.h"
#include "common/transport/verbs/rma.h"

#define CREDIT_STEP 16 /* receives for credit are posted again so many at a time */
#define MESSAGE_MAX (ZWIRE_ENV_BYTES + (size_t)ZWIRE_MAX_PAYLOAD)
#define LIMIT_STEP_MAX 4096 /* a peer that gives more credit at a time is broken */

/* --- completions --- */

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

/* The send with this number, and all before it, are complete. */
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

int vtx_reap(struct vlink *l)
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
		vtx_ring(l); /* so that it is told what becomes of them */
	if (tx->failing && !tx->error)
		tx->error = vlink_reason(l, &tx->doubt, vlink_hung_up(l) ? -EPIPE : tx->failing);
	if (tx->error == -ETIMEDOUT && tx->head == 0)
		vlink_tell_path(l, false);
	return tx->error ? tx->error : tx->failing;
}

/* Nothing can be sent: what the caller is told. */
static int tell_error(const struct vtx *tx)
{
	return tx->error ? tx->error : -EAGAIN;
}

/* --- sending --- */

/* From this one on the device has not taken them, and will tell nothing about them. Nor must it take any that come
 * after them, which the peer would take for the next ones. */
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

int vtx_ring(struct vlink *l)
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

bool vtx_has_slot(const struct vtx *tx)
{
	return tx->tail - tx->head < tx->depth - VRMA_MAX - 1;
}

struct ibv_send_wr *vtx_next(struct vlink *l, struct ibv_sge **sge)
{
	struct vtx *tx = &l->tx;
	if (tx->list == (uint32_t)voptions->post_list)
		vtx_ring(l);
	uint32_t i = tx->list++;
	if (i > 0)
		tx->wr[i - 1].next = &tx->wr[i];
	*sge = &tx->sge[i];
	tx->wr[i] =
		(struct ibv_send_wr){.sg_list = &tx->sge[i], .num_sge = 1, .wr_id = vtag_make(VTAG_SEND, tx->tail, 0)};
	tx->slot[tx->tail++ & tx->slot_mask] = NULL;
	return &tx->wr[i];
}

/* One in so many reports, and of those with a buffer so many that no link's own ones are all silent. */
static void choose_signal(struct vtx *tx, struct ibv_send_wr *wr, bool buffer)
{
	tx->run++;
	tx->run_held += buffer;
	if (tx->run < tx->signal && tx->run_held < VPOOL_OWN)
		return;
	wr->send_flags |= IBV_SEND_SIGNALED;
	tx->run = tx->run_held = 0;
}

/* It may have one. */
static struct vbuf *take_buffer(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	tx->pool->shared -= tx->held >= VPOOL_OWN;
	if (++tx->held > VPOOL_OWN && !tx->holds)
		vtx_hold(l);
	return vpool_get(tx->pool);
}

/* len bytes of the message that env and payload make up, from byte `at` on. */
static void copy_part(struct vtx *tx, uint8_t *to, const uint8_t *env, const uint8_t *payload, size_t at, size_t len)
{
	if (at == 0 && len >= ZWIRE_ENV_BYTES) { /* most: a length that the compiler knows */
		memcpy(to, env, ZWIRE_ENV_BYTES);
		to += ZWIRE_ENV_BYTES;
		at = ZWIRE_ENV_BYTES;
		len -= ZWIRE_ENV_BYTES;
	} else if (at < ZWIRE_ENV_BYTES) {
		size_t n = ZWIRE_ENV_BYTES - at < len ? ZWIRE_ENV_BYTES - at : len;
		memcpy(to, env + at, n);
		to += n;
		at += n;
		len -= n;
	}
	if (len > 0)
		memcpy(to, payload + (at - ZWIRE_ENV_BYTES), len);
	tx->copied += len;
}

/* Room for one more send of this kind, with a look at the completions if there seems to be none. */
static bool has_room(struct vlink *l, bool buffer)
{
	struct vtx *tx = &l->tx;
	for (int tries = 0; tries < 2; tries++) {
		bool credit = tx->limit != tx->sent && vtx_has_slot(tx);
		tx->want_buffer = buffer && credit && !vtx_may_have_buffer(tx);
		if (tx->want_buffer && tries > 0 && !tx->failing) /* others may have what they do not need any more */
			tx->want_buffer = !vtx_reap_holders(l);
		if (credit && !tx->want_buffer)
			return true;
		if (tries > 0 || vtx_ring(l) != 0 || vtx_reap(l) != 0)
			break;
	}
	return false;
}

/* One send. False: no room. */
static bool send_part(struct vlink *l, const uint8_t *env, const uint8_t *payload, size_t at, size_t len)
{
	struct vtx *tx = &l->tx;
	bool by_value = len <= tx->inline_bytes;
	struct ibv_sge *sge;
	if (!has_room(l, !by_value))
		return false;
	struct vbuf *own = by_value ? NULL : take_buffer(l), *b = own;
	struct ibv_send_wr *wr = vtx_next(l, &sge);
	if (own && at == 0)
		b = vpass_take(tx->pass, own, payload);
	uint8_t *to = b ? b->data : tx->copy[wr - tx->wr];
	if (b == own)
		copy_part(tx, to, env, payload, at, len);
	else
		memcpy(to, env, ZWIRE_ENV_BYTES);
	*sge = (struct ibv_sge){.addr = (uintptr_t)to, .length = (uint32_t)len, .lkey = b ? b->lkey : 0};
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = b ? 0 : IBV_SEND_INLINE;
	tx->slot[(tx->tail - 1) & tx->slot_mask] = b;
	choose_signal(tx, wr, b != NULL);
	tx->sent++;
	return true;
}

/* Sends what is left of a message. 0: nothing is; -EAGAIN; or why it is broken. */
static int send_rest(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	while (tx->rest_at < tx->rest_len) {
		size_t left = tx->rest_len - tx->rest_at, len = left < tx->send_bytes ? left : tx->send_bytes;
		if (!send_part(l, NULL, tx->rest + tx->rest_at, ZWIRE_ENV_BYTES, len))
			return tell_error(tx);
		tx->rest_at += len;
	}
	return tx->error;
}

/* Keeps it: the caller wants its memory back. */
static int keep_rest(struct vtx *tx, const uint8_t *env, const uint8_t *payload, size_t at, size_t total)
{
	copy_part(tx, tx->rest, env, payload, at, total - at);
	tx->rest_at = 0;
	tx->rest_len = total - at;
	return 0;
}

static int refuse(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->error)
		return tx->error;
	vtx_ring(l);
	tx->waits = true;
	if (++tx->refused % VLOOK_EVERY == 0 && vlink_hung_up(l))
		tx->error = tx->failing = vlink_lost(l) ? vlink_lost(l) : -EPIPE;
	return tell_error(tx);
}

/* --- changing over from the TCP connection --- */

/* Not before the first credit, which also says that the peer's queue pair is up. It gives some when it knows that ours
 * is. */
static bool may_switch(struct vlink *l)
{
	if (!vlink_is_ready(l))
		return false;
	if (l->connecting && !l->tx.told_ready)
		l->tx.told_ready = vsetup_tell(l, VFRAME_READY, 0) == 0;
	return vtx_reap(l) == 0 && l->tx.limit != 0;
}

int vtx_change_over(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	int rc = 0;
	if (tx->error)
		return tx->error;
	if (tx->mode == VMODE_STREAM) {
		if (!may_switch(l))
			return 1;
		rc = vsetup_tell(l, VFRAME_SWITCH, 0);
		if (rc == 0)
			tx->mode = VMODE_SWITCHING;
	}
	if (rc == 0)
		rc = l->stream->ops->flush(l->stream);
	if (rc == 0)
		tx->mode = VMODE_QUEUE;
	return rc;
}

int vtx_post(struct zlink *base, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct vlink *l = (struct vlink *)base;
	struct vtx *tx = &l->tx;
	size_t total = ZWIRE_ENV_BYTES + len, at = 0;
	if (len > ZWIRE_MAX_PAYLOAD)
		return -EMSGSIZE;
	if (tx->mode != VMODE_QUEUE) {
		int rc = vtx_change_over(l);
		if (rc != 0)
			return rc > 0 ? l->stream->ops->post(l->stream, env, payload, len) : rc;
	}
	if (tx->failing && vtx_reap(l) != 0)
		return tell_error(tx);
	if (tx->rest_at < tx->rest_len && send_rest(l) != 0)
		return refuse(l);
	while (at < total) {
		size_t part = total - at < tx->send_bytes ? total - at : tx->send_bytes;
		if (!send_part(l, env, payload, at, part))
			break;
		at += part;
	}
	if (at == 0 || tx->error)
		return refuse(l);
	tx->refused = 0;
	return at < total ? keep_rest(tx, env, payload, at, total) : 0;
}

int vtx_flush(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	struct vtx *tx = &l->tx;
	int rc = 0;
	if (tx->mode != VMODE_QUEUE) {
		rc = vtx_change_over(l);
		if (rc != 0)
			return rc > 0 ? l->stream->ops->flush(l->stream) : rc;
	}
	if (tx->failing && vtx_reap(l) != 0)
		return tell_error(tx);
	if (tx->rest_at < tx->rest_len) {
		rc = send_rest(l);
		tx->refused = rc == 0 ? 0 : tx->refused; /* which was for lack of room for this */
	}
	vtx_ring(l);
	if (tx->armed && rc == 0 && !(tx->refused && tx->waits) && !tx->writes) {
		tx->refused = 0; /* nor is what was refused waited for any more, or it would be armed again */
		vtx_expect_errors(l);
	}
	if (rc == -EAGAIN)
		return refuse(l);
	return tx->failing ? tell_error(tx) : 0; /* also where only now something is known to be lost */
}

/* --- making and ending --- */

int vtx_init(struct vlink *l, struct zerr *err)
{
	struct vtx *tx = &l->tx;
	tx->slot_mask = 1;
	while (tx->slot_mask < tx->depth)
		tx->slot_mask = 2 * tx->slot_mask + 1;
	tx->slot = calloc(tx->slot_mask + 1, sizeof(*tx->slot)); /* NOLINT(bugprone-sizeof-expression): pointers */
	tx->copy = malloc(VLIST_MAX * sizeof(*tx->copy));
	tx->rest = malloc(MESSAGE_MAX); /* only what is used of it becomes memory */
	if (!tx->slot || !tx->copy || !tx->rest)
		return zerr_set(err, -ENOMEM, "out of memory for a connection");
	if (!vnotice_await(&tx->queue, &tx->awaits, VNOTICE_ERRORS))
		return zerr_set(err, -EIO, "%s: cannot ask for the notice of errors", l->dev->name);
	tx->quiet = true;
	return post_credit_receives(tx, VCREDITS_MAX) == 0 ? 0 : zerr_set(err, -EIO, "cannot post receives");
}

void vtx_fini(struct vlink *l)
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
