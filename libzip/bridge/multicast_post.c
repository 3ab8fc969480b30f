/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a multicast posts once for several receivers, see multicast_post.h. */
#include "libzip/bridge/multicast_post.h"

#include <errno.h>
#include <string.h>

#include "libzip/bridge/multicast_send.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/carrier.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/way.h"

enum readiness { READY, SOON, ALONE };

/* Can that rank have the message by the carrier, in order? first: the send that waits for this in front of its stream;
 * NULL: nothing may wait there. SOON: when it has acknowledged some earlier messages. */
static enum readiness look_at(const struct zmulticast *m, const struct zremote *r, const struct zop *first)
{
	const struct zpeer *s = &r->stream;
	if (!zcarrier_reaches(r) || r->pending.head != first || s->unsent || s->refused || s->halted || s->gone)
		return ALONE;
	if (s->last != s->acked && !r->by_list && r->channel != zchannel_carrier())
		return ALONE;
	return zpeer_has_room(s, m->offers ? ZRMA_KEY_BYTES : (uint32_t)m->data.bytes) ? READY : SOON;
}

/* The receiver's stream keeps the message until it is acknowledged. */
static void keep_message(struct zremote *r, struct zpeer_msg *msg)
{
	struct zpeer *s = &r->stream;
	if (s->last == s->acked)
		r->by_list = r->channel != zchannel_carrier();
	zpeer_push(s, msg);
	zpeer_sent(s, msg);
	zpeer_ack_sent(s);
}

struct batch { /* receivers of one list */
	struct zremote *remote[ZWIRE_RECEIVERS_MAX];
	struct zop *op[ZWIRE_RECEIVERS_MAX]; /* the sends that were held */
	struct zpeer_msg *msg[ZWIRE_RECEIVERS_MAX];
	struct zwire_receiver list[ZWIRE_RECEIVERS_MAX];
	int n;
};

static void add_to_batch(struct batch *b, struct zremote *r, struct zop *op)
{
	b->remote[b->n] = r;
	b->op[b->n] = op;
	b->list[b->n++] = zcarrier_receiver(r, r->stream.last + 1, op ? op->t.xfer : 0);
}

static struct zwire_env message_of(const struct zmulticast *m)
{
	return (struct zwire_env){
		.kind = m->offers ? ZWIRE_RTS : ZWIRE_EAGER,
		.flags = (m->data.converted ? ZWIRE_F_EXT32 : 0) | (m->offers ? ZWIRE_F_ONE_SIDED : 0),
		.comm = m->req.comm->id | m->context,
		.tag = m->tag,
		.len = m->offers ? ZRMA_KEY_BYTES : (uint32_t)m->data.bytes,
		.offset = m->data.bytes,
	};
}

/* Makes the message that each receiver's stream keeps. False: no memory. */
static bool make_messages(struct batch *b, const struct zwire_env *env, const uint8_t *payload)
{
	struct zwire_env one = *env;
	for (int i = 0; i < b->n; i++) {
		one.xfer = b->list[i].xfer;
		b->msg[i] = zpeer_msg_create(&one, payload);
		if (b->msg[i])
			continue;
		while (i-- > 0)
			zpool_put(b->msg[i]);
		return false;
	}
	return true;
}

static int post_batch(struct zmulticast *m, struct batch *b)
{
	const uint8_t *payload = m->offers ? m->exposure.key : m->packed ? m->packed : m->data.dense;
	struct zwire_env env = message_of(m);
	int rc;
	if (!make_messages(b, &env, payload))
		return -EAGAIN; /* tried again later */
	rc = zcarrier_post_list(b->list, b->n, NULL);
	if (rc == 0)
		rc = zcarrier_post_message(&env, m->offers ? (uint64_t)(m->patience_ns / 1000000) : 0, payload);
	for (int i = 0; i < b->n; i++) {
		if (rc == 0)
			keep_message(b->remote[i], b->msg[i]);
		else
			zpool_put(b->msg[i]);
	}
	if (rc == 0)
		zpost_flush(zchannel_carrier());
	return rc == 0 ? 0 : -EAGAIN;
}

/* Posts the message if all receivers can have it at once. alone: receivers that must have a message of their own. */
static bool post_at_once(struct zmulticast *m, const int *dest, bool *alone)
{
	struct batch b;
	b.n = 0;
	/* An offer waits for its answer, so it needs an operation for each receiver: those operations are held
	 * first. */
	bool all = !m->offers && m->n <= (int)ZWIRE_RECEIVERS_MAX && !zchannel_carrier()->full;
	for (int i = 0; i < m->n; i++) {
		struct zremote *r = zremote_get(&zstations[0], (uint32_t)m->req.comm->vrank[dest[i]]);
		enum readiness ready = r ? look_at(m, r, NULL) : ALONE;
		alone[i] = ready == ALONE;
		all &= ready != SOON;
		if (ready == READY && all)
			add_to_batch(&b, r, NULL);
	}
	return all && b.n > 1 && post_batch(m, &b) == 0;
}

/* Makes a send that waits in front of its receiver's stream: later messages to that receiver stay behind it. */
static void hold(struct zmulticast *m, int dest)
{
	struct zop *op = zmulticast_send_make(m, dest);
	if (!op)
		return;
	op->t.tied = &m->tied;
	op->t.group = ZTRANSFER_HELD;
	m->tied.nheld++;
	m->tied.op[m->tied.n++] = op;
	zmulticast_send_start(m, op);
}

static void let_go(struct zop *op)
{
	struct zremote *r = op->remote;
	ztied_part(op);
	zoutgoing_pump(r); /* op may be complete */
	zpost_flush(zway_of(r));
}

/* Collects held sends that can share a message, and lets those go that never can. soon: how many can share one soon. */
static void gather_batch(struct zmulticast *m, struct batch *b, int *soon)
{
	b->n = *soon = 0;
	for (int i = 0; i < m->tied.n; i++) {
		struct zop *op = m->tied.op[i];
		if (op->t.group != ZTRANSFER_HELD)
			continue;
		enum readiness ready = look_at(m, op->remote, op);
		if (ready == SOON)
			++*soon;
		else if (ready == READY && b->n < (int)ZWIRE_RECEIVERS_MAX)
			add_to_batch(b, op->remote, op);
		if (ready != ALONE)
			continue;
		let_go(op);
		i--; /* the next one has moved to its place */
	}
}

/* A held send has been posted: a small message is sent, an offer waits for its answer. */
static void went_out(struct zmulticast *m, struct zremote *r, struct zop *op)
{
	zoplist_pop(&r->pending); /* this is op */
	if (m->offers) {
		op->t.group = ZTRANSFER_TIED;
		m->tied.nheld--;
		op->t.fanned = op->t.carried = true;
		op->t.seq = r->stream.last;
	} else {
		zop_finish_send(op, MPI_SUCCESS);
	}
	zoutgoing_pump(r);
}

static void let_all_go(struct zmulticast *m)
{
	for (int i = m->tied.n; i-- > 0;)
		if (m->tied.op[i]->t.group == ZTRANSFER_HELD)
			let_go(m->tied.op[i]);
}

/* Held sends wait for room on the carrier, and for a while for room in the windows of their receivers. */
bool zmulticast_post_turn(struct zmulticast *m)
{
	int before = m->tied.nheld;
	while (m->tied.nheld > 0 && !zchannel_carrier()->full) {
		struct batch b;
		int soon;
		gather_batch(m, &b, &soon);
		if ((soon > 0 && zmulticast_send_is_patient(m)) || (b.n > 1 && post_batch(m, &b) != 0))
			break;
		if (b.n == 1)
			let_go(b.op[0]);
		for (int i = 0; b.n > 1 && i < b.n; i++)
			went_out(m, b.remote[i], b.op[i]);
		if (soon > 0) /* waited long enough */
			let_all_go(m);
	}
	return m->tied.nheld < before;
}

int zmulticast_post_start(struct zmulticast *m, const int *dest)
{
	bool few[64], *alone = m->n <= 64 ? few : zpool_get((size_t)m->n);
	if (!alone)
		return MPI_ERR_NO_MEM;
	bool posted = post_at_once(m, dest, alone);
	for (int i = 0; i < m->n; i++) {
		if (alone[i])
			zmulticast_send_alone(m, dest[i]);
		else if (!posted)
			hold(m, dest[i]);
	}
	if (alone != few)
		zpool_put(alone);
	if (m->tied.nheld > 0)
		zmulticast_post_turn(m);
	return MPI_SUCCESS;
}
