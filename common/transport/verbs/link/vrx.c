/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive half. A message that lies in one buffer is shown there. A longer message is put together, in the place
 * that the sink gave or in memory of the link. Buffers go back to the shared receive queue, and credit goes to the
 * sender (vcredit.c), when there is time or need. Messages that have come are also delivered after the queue pair or
 * the peer has failed. */
#include "common/transport/verbs/link/vrx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/transport/verbs/device/vcollect.h"
#include "common/transport/verbs/device/vpass.h"
#include "common/transport/verbs/link/vcredit.h"
#include "common/transport/verbs/link/vnotice.h"
#include "common/transport/verbs/link/vpath.h"
#include "common/transport/verbs/link/vrma_slot.h"
#include "common/transport/verbs/link/vrx_stream.h"
#include "common/transport/verbs/link/vtag.h"
#include "common/transport/verbs/link/vwake.h"

#define REPOST_AT 16 /* free buffers, which are posted again within a poll */
#define LATE_MS 100  /* for messages that the peer knows to have arrived: the device may show them a moment later */

/* --- messages --- */

static void put_back(struct vrx *rx, struct vbuf *b)
{
	vpool_put(rx->pool, b);
	if (rx->pool->nfree >= REPOST_AT)
		vpool_repost(rx->pool);
}

static int take(struct vrx *rx, const struct zsink *sink, const void *payload)
{
	int rc = sink->take(sink->ctx, &rx->env, rx->raw, rx->env.len ? payload : NULL);
	if (rc == -EAGAIN && rx->placed)
		rc = -EINVAL;
	return rc < 0 ? rc : 1;
}

/* Asks the sink for a place for the payload of the open message. */
static void find_place(struct vrx *rx, const struct zsink *sink)
{
	rx->placed = sink->place && rx->env.len ? sink->place(sink->ctx, &rx->env) : NULL;
}

/* Shows a message that lies wholly in its buffer. Returns 1, -EAGAIN (the buffer is kept), or the error. */
static int show_buffer(struct vrx *rx, const struct zsink *sink, struct vbuf *b)
{
	const void *payload = b->data + ZWIRE_ENV_BYTES;
	find_place(rx, sink);
	if (rx->placed) {
		payload = memcpy(rx->placed, payload, rx->env.len);
		rx->copied += rx->env.len;
	}
	vpass_begin(rx->pass, b);
	int rc = take(rx, sink, payload);
	b = vpass_end(rx->pass, b, rc == -EAGAIN, rx->env.len, &rx->copied);
	rx->kept = rc == -EAGAIN ? b : NULL;
	if (rc != -EAGAIN)
		put_back(rx, b);
	return rc;
}

/* Shows a message that was put together. */
static int show_whole(struct vrx *rx, const struct zsink *sink)
{
	if (rx->whole && !rx->placed) { /* refused before: the sink may want it elsewhere now */
		find_place(rx, sink);
		if (rx->placed) {
			memcpy(rx->placed, rx->memory, rx->env.len);
			rx->copied += rx->env.len;
		}
	}
	rx->whole = true;
	int rc = take(rx, sink, rx->placed ? rx->placed : rx->memory);
	if (rc != -EAGAIN)
		rx->open = rx->whole = false;
	return rc;
}

static int begin_message(struct vrx *rx, const struct zsink *sink, struct vbuf *b, uint32_t len)
{
	int rc = len < ZWIRE_ENV_BYTES ? -EPROTO : zwire_decode(&rx->env, b->data);
	if (rc < 0 || len > ZWIRE_ENV_BYTES + rx->env.len || vframe_is(&rx->env)) {
		put_back(rx, b);
		return rc < 0 ? rc : -EPROTO;
	}
	memcpy(rx->raw, b->data, ZWIRE_ENV_BYTES);
	if (len == ZWIRE_ENV_BYTES + rx->env.len)
		return show_buffer(rx, sink, b);
	find_place(rx, sink);
	rx->open = true;
	rx->have = len - ZWIRE_ENV_BYTES;
	memcpy(rx->placed ? rx->placed : rx->memory, b->data + ZWIRE_ENV_BYTES, rx->have);
	rx->copied += rx->have;
	put_back(rx, b);
	return 0;
}

static int continue_message(struct vrx *rx, const struct zsink *sink, struct vbuf *b, uint32_t len)
{
	bool fits = len > 0 && len <= rx->env.len - rx->have;
	if (fits)
		memcpy((rx->placed ? rx->placed : rx->memory) + rx->have, b->data, len);
	rx->have += len;
	rx->copied += len;
	put_back(rx, b);
	if (!fits)
		return -EPROTO;
	return rx->have == rx->env.len ? show_whole(rx, sink) : 0;
}

/* --- completions --- */

/* Takes the completion of a receive: a send of the peer. */
static void take_arrival(struct vrx *rx, const struct ibv_wc *wc)
{
	struct vbuf *b = (struct vbuf *)(uintptr_t)wc->wr_id;
	int rc = 0;
	if (wc->status != IBV_WC_SUCCESS)
		rc = vlink_error(wc->status);
	else if (rx->blind)
		rc = -EIO;
	else if (wc->wc_flags & IBV_WC_WITH_IMM || rx->consumed + (rx->got - rx->next) == rx->limit)
		rc = -EPROTO; /* not a message, or more than the peer may send */
	if (rc == -EPROTO && !rx->stopping)
		vpath_give_up(rx->queue.qp); /* the peer would go on, with receives of other links */
	if (!rx->broken)
		rx->broken = rc;
	if (rc == 0) {
		rx->arrival[rx->got++ % VARRIVALS] = (struct varrival){b, wc->byte_len};
	} else if (rx->stopping) { /* in another thread than the pool's owner, which gets the buffer with the others */
		b->next = rx->unwanted;
		rx->unwanted = b;
	} else {
		put_back(rx, b);
	}
}

static void take_completion(struct vrx *rx, const struct ibv_wc *wc)
{
	enum vtag tag = vtag_of(wc->wr_id);
	if (tag == VTAG_BUFFER) {
		take_arrival(rx, wc);
		return;
	}
	if (tag == VTAG_RMA) {
		struct vrma_slot *s = &rx->rma[vtag_value(wc->wr_id)];
		s->rc = vlink_error(wc->status);
		s->done = true;
	} else if (tag == VTAG_LOCAL) {
		rx->local = (struct vdone){true, vlink_error(wc->status)};
	} else if (tag == VTAG_CREDIT) {
		rx->sends -= vtag_value(wc->wr_id); /* together with those before it */
		if (wc->status == IBV_WC_SUCCESS && rx->way == VRX_WAY_TRIED)
			rx->way = VRX_WAY_PROVEN;
	}
	if (wc->status != IBV_WC_SUCCESS && !rx->broken)
		rx->broken = vlink_error(wc->status);
}

/* Takes completions. Returns whether there were any. */
static bool collect(struct vrx *rx)
{
	struct ibv_wc wc[VPOLL];
	int n = vcollect(rx->queue.cq, rx->queue.ex, VPOLL, wc);
	if (n < 0)
		rx->blind = true;
	if (n < 0 && !rx->broken)
		rx->broken = -EIO;
	for (int i = 0; i < n; i++)
		take_completion(rx, &wc[i]);
	return n > 0;
}

/* Takes completions until something has arrived. Returns whether something has. */
static bool fill(struct vrx *rx)
{
	while (rx->next == rx->got)
		if (!collect(rx))
			return false;
	return true;
}

/* Goes on to the next message. Returns 1: taken, 0: there is none, -EAGAIN: refused, or why the link is broken. */
static int deliver(struct vrx *rx, const struct zsink *sink)
{
	if (rx->kept)
		return show_buffer(rx, sink, rx->kept);
	if (rx->whole)
		return show_whole(rx, sink);
	while (fill(rx)) {
		struct varrival a = rx->arrival[rx->next++ % VARRIVALS];
		rx->consumed++;
		int rc = rx->open ? continue_message(rx, sink, a.buf, a.len) : begin_message(rx, sink, a.buf, a.len);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* --- the half --- */

/* May the rest of the peer's sends still come? */
static bool may_come(struct vrx *rx)
{
	const int64_t now = zclock_ms();
	rx->late_ms = rx->late_ms ? rx->late_ms : now;
	return now - rx->late_ms < LATE_MS;
}

/* Nothing has come: is this the end? Returns 0: no; or why the link ends. */
static int find_end(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	if (rx->closing && rx->consumed == rx->close_at && !rx->open)
		return -ESHUTDOWN;
	if (vlink_lost(l))
		return vlink_lost(l);
	if (rx->closing && !rx->broken && !rx->open && may_come(rx))
		return 0;
	const int why = rx->broken ? rx->broken : rx->fin ? -ECONNRESET : rx->sender;
	const int rc = why ? vlink_reason(l, &rx->doubt, why) : 0;
	if (rc == -ETIMEDOUT && rx->way != VRX_WAY_PROVEN)
		vlink_tell_path(l, false);
	return rc;
}

int vrx_reap(struct vlink *l)
{
	while (collect(&l->rx))
		;
	return l->rx.broken;
}

/* Looks for events other than messages. An armed half may have been woken by one; a half that does not sleep looks now
 * and then. Returns true if the TCP connection has something. */
static bool look_around(struct vlink *l, bool armed)
{
	struct vrx *rx = &l->rx;
	const bool looks = armed ? !vnotice_take(&rx->queue, &rx->awaits) : ++rx->vain % VLOOK_EVERY == 0;
	return looks && rx->epoll >= 0 && vwake_look(l, rx->epoll);
}

/* armed: something may have woken the caller. It is a message in most cases. Its event is taken when the next one is
 * asked for, as that is a system call for which the message need not wait. */
static int poll_queue(struct vlink *l, const struct zsink *sink, unsigned budget, bool armed)
{
	struct vrx *rx = &l->rx;
	const uint32_t before = rx->consumed;
	unsigned n = 0;
	int rc = 0;
	vpool_collect(rx->pool);
	if (rx->kept || rx->whole) /* a sender whose message is refused may go on no longer than its credit lasts */
		collect(rx);
	while (n < budget && (rc = deliver(rx, sink)) > 0) {
		n++;
		/* A message that has woken a thread is alone in most cases: it goes on before the queue is looked at
		 * again. */
		if (armed && rx->next == rx->got)
			break;
	}
	int renewed = vcredit_renew(l, n > 0, rx->consumed - before + (rx->got - rx->next));
	if (renewed < 0 && !rx->broken)
		rx->broken = renewed;
	if (rc < 0 && rc != -EAGAIN) {
		rx->error = rc;
		vpath_give_up(rx->queue.qp); /* as nobody looks any more at the receives that it takes */
	}
	if (n > 0 || rc < 0) {
		rx->vain = 0;
		return n > 0 ? (int)n : rc;
	}
	if (budget == 0)
		return 0;
	if (look_around(l, armed) || rx->broken || rx->sender) {
		vrx_stream_look(l);
		if ((rx->fin || rx->broken) && fill(rx))
			return 0; /* it came meanwhile */
	}
	return rx->error = find_end(l);
}

/*
 * Messages still come over TCP, and the queue is looked at all the same. The sends behind SWITCH may come before it
 * does; and a peer that never says SWITCH would take receives of other links, of which it shall have no more than its
 * credit. The first credit is watched, too: where there is no way for packets (UDP port 4791 is filtered, or the GID is
 * of another network) the device says so some seconds later. The peer hears of no credit then, and stays with TCP; so
 * does this end. Returns 0, or why the link ends.
 */
static int look_ahead(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	if (!vlink_is_ready(l) || rx->way == VRX_WAY_NONE)
		return 0;
	collect(rx);
	if (!rx->broken)
		return 0;
	const bool first = rx->way == VRX_WAY_TRIED;
	if (first && vlink_hung_up(l)) { /* the TCP connection tells the reason */
		rx->way = VRX_WAY_NONE;
		return 0;
	}
	const int rc = vlink_reason(l, &rx->doubt, rx->broken);
	if (!first || rc != -ETIMEDOUT)
		return rc;
	rx->way = VRX_WAY_NONE;
	vlink_tell_path(l, true);
	return 0;
}

static int look(struct vlink *l, const struct zsink *sink, unsigned budget)
{
	struct vrx *rx = &l->rx;
	bool armed = rx->armed; /* other events than a message wake again */
	rx->armed = false;
	if (rx->mode == VMODE_QUEUE)
		return poll_queue(l, sink, budget, armed);
	look_around(l, armed);
	int rc = vrx_stream_poll(l, sink, budget);
	if (rx->mode == VMODE_STREAM && (rc >= 0 || rc == -EAGAIN)) {
		const int broken = look_ahead(l);
		if (rc == 0)
			rc = rx->sender ? rx->sender : broken;
	}
	if (rc < 0 && rc != -EAGAIN)
		return rx->error = l->dev ? vlink_reason(l, &rx->doubt, rc) : rc;
	if (rc != 0 || rx->mode != VMODE_QUEUE)
		return rc;
	vrx_stream_look(l); /* more may be there already, which wakes nobody */
	return poll_queue(l, sink, budget, false);
}

int vrx_poll(struct zlink *base, const struct zsink *sink, unsigned budget)
{
	struct vlink *l = (struct vlink *)base;
	int rc = l->rx.error ? l->rx.error : look(l, sink, budget);
	if (l->rx.error) /* nobody looks here any more */
		vlookout_del(&l->lookout);
	return rc;
}

int vrx_unplace(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	struct vrx *rx = &l->rx;
	if (rx->open && rx->placed) {
		memcpy(rx->memory, rx->placed, rx->have);
		rx->copied += rx->have;
		rx->placed = NULL;
	}
	return rx->mode == VMODE_QUEUE ? 0 : l->stream->ops->unplace(l->stream);
}

/* Asks for events of what look_ahead looks for, before sleeping. false: it is there. */
static bool await_ahead(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	if (!vlink_is_ready(l) || rx->way == VRX_WAY_NONE)
		return true;
	if (rx->awaits != VNOTICE_ALL && !vnotice_await(&rx->queue, &rx->awaits, VNOTICE_ALL))
		return false;
	collect(rx);
	return !rx->broken;
}

int vrx_arm(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	if (rx->error || vlink_lost(l))
		return 1;
	if (rx->armed)
		vwake_look(l, rx->epoll);
	rx->armed = rx->epoll >= 0;
	if (rx->sender)
		return 1;
	if (rx->mode != VMODE_QUEUE && rx->reads == 0)
		return !await_ahead(l) || l->stream->ops->arm(l->stream, ZLINK_RX) != 0;
	/* An event that is still awaited, from an arming that something else ended, is as good as a new one. */
	if (rx->kept || rx->whole || rx->broken || !vnotice_await(&rx->queue, &rx->awaits, VNOTICE_ALL))
		return 1;
	if (fill(rx) || rx->broken || vrma_slot_any_done(rx->rma, rx->reads) || vcredit_renew(l, false, 0) < 0)
		return 1;
	return l->stream->ops->arm(l->stream, ZLINK_RX) != 0;
}

int vrx_init(struct vlink *l, struct zerr *err)
{
	l->rx.memory = malloc(ZWIRE_MAX_PAYLOAD); /* only the used part becomes memory */
	return l->rx.memory ? 0 : zerr_set(err, -ENOMEM, "out of memory for a connection");
}

bool vrx_is_greedy(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	rx->stopping = true;
	while (collect(rx))
		;
	return rx->broken == -EPROTO;
}

bool vrx_stop(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	rx->stopping = true;
	if (ibv_modify_qp(rx->queue.qp, &error, IBV_QP_STATE) != 0)
		return false;
	while (collect(rx))
		;
	/* There is nothing to wait for where all sends of the peer have come, or where no other link uses the buffers
	 * after this one. */
	const bool all = rx->closing && rx->consumed + (rx->got - rx->next) == rx->close_at,
		   last = rx->pool->links == 1;
	rx->pool->lacks |= last && !all;
	return !last && !all;
}

/* The queue pair is in its error state: all that came is in the completion queue, and no more will come. */
void vrx_fini(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	struct vbuf *chain = NULL;
	while (rx->queue.cq && fill(rx)) {
		struct vbuf *b = rx->arrival[rx->next++ % VARRIVALS].buf;
		b->next = chain;
		chain = b;
	}
	for (struct vbuf *b = rx->unwanted, *next; b; b = next) {
		next = b->next;
		b->next = chain;
		chain = b;
	}
	if (rx->kept) {
		rx->kept->next = chain;
		chain = rx->kept;
	}
	if (rx->pool)
		vpool_del_link(rx->pool, chain, rx->extra);
	free(rx->memory);
}
