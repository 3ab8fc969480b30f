/* SPDX-License-Identifier: BSD-3-Clause */
/* One message to several remote ranks, see multicast.h. */
#include "multicast.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "channel.h"
#include "outgoing.h"
#include "pool.h"
#include "rendezvous.h"
#include "world.h"

struct zmulticast {
	struct zreq req;	 /* first */
	struct zmulticast *next; /* in active */
	enum zcomm_context context;
	int tag, n;
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
	struct zdata data;
	uint8_t *packed; /* small ones that are not dense; from the pool */
	int error;
	struct zreq **sends; /* [n], not complete yet; the memory of both lists begins here */
	int nsends;
	/* Small: the sends that wait, each the first of its receiver, to be posted together (op->held). Large: those
	 * that go on together, and how far they are. */
	struct zop **tied;
	int ntied;
	uint64_t moved;
	/* uneven: since when it could go on to some and not to others; 0: that is not so */
	int64_t patience_ns, uneven_ns;
};

static struct zmulticast *active;
static const void *listed; /* whose receivers the carrier's list has now: a multicast or an operation; NULL: nobody's */

static void destroy(struct zreq *r)
{
	struct zmulticast *m = (struct zmulticast *)(void *)r;
	zpool_put(m->packed);
	zpool_put(m->sends);
}

static const struct zreq_ops ops = {.name = "multicast", .destroy = destroy};

struct zchannel *zmulticast_carrier(void)
{
	return zchannel_open(zworld.part == 0 ? 1 : 0);
}

static int64_t now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static struct zwire_receiver receiver_of(const struct zremote *r, uint64_t seq, uint64_t xfer)
{
	return (struct zwire_receiver){.dst = r->vrank, .seq = seq, .ack = zpeer_ack_value(&r->stream), .xfer = xfer};
}

/* The list from now on. 0 or -EAGAIN. */
static int post_list(const struct zwire_receiver *list, int n, const void *whose)
{
	uint8_t bytes[ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES];
	struct zwire_env env = {.kind = ZWIRE_RECEIVERS,
		.dst = ZWIRE_NOBODY,
		.len = (uint32_t)n * ZWIRE_RECEIVER_BYTES};
	for (int i = 0; i < n; i++)
		zwire_put_receiver(bytes + i * ZWIRE_RECEIVER_BYTES, &list[i]);
	int rc = zchannel_post_raw(zmulticast_carrier(), &env, bytes);
	if (rc == 0)
		listed = whose;
	return rc;
}

/* To those of the list. 0 or -EAGAIN. */
static int post_message(struct zwire_env *env, const void *payload)
{
	env->dst = ZWIRE_NOBODY;
	env->seq = env->ack = env->xfer = 0;
	return zchannel_post_raw(zmulticast_carrier(), env, payload);
}

int zmulticast_post_one(struct zremote *r, struct zwire_env *env, const void *payload)
{
	struct zwire_receiver one = receiver_of(r, env->seq, env->xfer);
	struct zwire_env copy = *env;
	int rc = post_list(&one, 1, NULL);
	if (rc == 0)
		rc = post_message(&copy, payload);
	if (rc == 0)
		zpeer_ack_sent(&r->stream);
	return rc;
}

/* --- small messages --- */

static bool is_bridged(const struct zremote *r)
{
	return r->channel->peer == ZWIRE_NOBODY && !r->channel->waiting;
}

enum readiness { READY, SOON, ALONE };

/* Can it have the message by the carrier, in order? first: what waits for it already; NULL: nothing may. Soon: when it
 * has acknowledged some of what came before. */
static enum readiness look_at(const struct zmulticast *m, const struct zremote *r, const struct zop *first)
{
	const struct zpeer *s = &r->stream;
	if (!is_bridged(r) || r->pending.head != first || s->unsent || s->refused || s->gone)
		return ALONE;
	if (s->last != s->acked && !r->by_list && r->channel != zmulticast_carrier())
		return ALONE;
	return zpeer_has_room(s, (uint32_t)m->data.bytes) ? READY : SOON;
}

static void send_alone(struct zmulticast *m, int dest)
{
	struct zreq *r;
	int rc = zbridge_isend(m->req.comm, m->context, m->buf, m->count, m->type, dest, m->tag, ZSEND_STANDARD, &r);
	if (rc == MPI_SUCCESS)
		m->sends[m->nsends++] = r;
	else
		m->error = rc;
}

/* What the receivers' streams keep until they acknowledge it. NULL: no memory. */
static struct zpeer_msg *make_message(const struct zwire_env *env, const uint8_t *payload)
{
	struct zpeer_msg *msg = zpool_get(sizeof(*msg) + env->len);
	if (!msg)
		return NULL;
	msg->env = *env;
	if (env->len)
		memcpy(msg->payload, payload, env->len);
	return msg;
}

static void keep_message(struct zremote *r, struct zpeer_msg *msg)
{
	struct zpeer *s = &r->stream;
	if (s->last == s->acked)
		r->by_list = r->channel != zmulticast_carrier();
	zpeer_push(s, msg);
	zpeer_sent(s, msg);
	zpeer_ack_sent(s);
}

struct batch { /* receivers of one list */
	struct zremote *remote[ZWIRE_RECEIVERS_MAX];
	struct zop *op[ZWIRE_RECEIVERS_MAX]; /* that were held */
	struct zpeer_msg *msg[ZWIRE_RECEIVERS_MAX];
	struct zwire_receiver list[ZWIRE_RECEIVERS_MAX];
	int n;
};

static void add_to_batch(struct batch *b, struct zremote *r, struct zop *op)
{
	b->remote[b->n] = r;
	b->op[b->n] = op;
	b->list[b->n++] = receiver_of(r, r->stream.last + 1, 0);
}

static int post_batch(struct zmulticast *m, struct batch *b)
{
	const uint8_t *payload = m->packed ? m->packed : m->data.dense;
	struct zwire_env env = {
		.kind = ZWIRE_EAGER,
		.flags = m->data.converted ? ZWIRE_F_EXT32 : 0,
		.comm = m->req.comm->id | m->context,
		.tag = m->tag,
		.len = (uint32_t)m->data.bytes,
		.offset = m->data.bytes,
	};
	int made = 0, rc = 0;
	while (made < b->n && (b->msg[made] = make_message(&env, payload)))
		made++;
	if (made == b->n)
		rc = post_list(b->list, b->n, NULL);
	if (rc == 0 && made == b->n)
		rc = post_message(&env, payload);
	if (rc != 0 || made < b->n) {
		while (made-- > 0)
			zpool_put(b->msg[made]);
		return -EAGAIN; /* later */
	}
	for (int i = 0; i < b->n; i++)
		keep_message(b->remote[i], b->msg[i]);
	zchannel_flush(zmulticast_carrier());
	return 0;
}

/* Can all of them have it at once? Those that must have their own are in alone. */
static bool post_at_once(struct zmulticast *m, const int *dest, bool *alone)
{
	struct batch b;
	b.n = 0;
	bool all = m->n <= (int)ZWIRE_RECEIVERS_MAX && !zmulticast_carrier()->full;
	for (int i = 0; i < m->n; i++) {
		struct zremote *r = zremote_get((uint32_t)m->req.comm->vrank[dest[i]]);
		enum readiness ready = r ? look_at(m, r, NULL) : ALONE;
		alone[i] = ready == ALONE;
		all &= ready != SOON;
		if (ready == READY && all)
			add_to_batch(&b, r, NULL);
	}
	return all && b.n > 1 && post_batch(m, &b) == 0;
}

/* One more of its sends, not yet started. NULL: none, and m has the error. */
static struct zop *make_send(struct zmulticast *m, int dest)
{
	const struct zop_args args = {m->req.comm, m->context, (void *)(uintptr_t)m->buf, m->count, m->type, dest,
		m->tag};
	struct zop *op;
	int rc = zop_create(&op, ZOP_SEND, &args, false);
	if (rc != MPI_SUCCESS) {
		m->error = rc;
		return NULL;
	}
	op->mode = ZSEND_STANDARD;
	m->sends[m->nsends++] = &op->req;
	return op;
}

/* Starts the send made last; if that fails it is none of its sends. */
static void start_send(struct zmulticast *m, struct zop *op)
{
	int rc = zop_start(op);
	if (rc == MPI_SUCCESS)
		return;
	m->error = rc;
	m->nsends--;
	if (op->multicast)
		zmulticast_part(op);
	zreq_release(&op->req);
}

/* It waits in front of its receiver's stream: what is sent there later stays behind it. */
static void hold(struct zmulticast *m, int dest)
{
	struct zop *op = make_send(m, dest);
	if (!op)
		return;
	op->multicast = m;
	op->held = true;
	m->tied[m->ntied++] = op;
	start_send(m, op);
}

static void let_go(struct zop *op)
{
	struct zremote *r = op->remote;
	zmulticast_part(op);
	zoutgoing_pump(r); /* op may be complete */
	zchannel_flush(zoutgoing_way(r));
}

/* Is it still worth waiting for those that cannot have it yet? */
static bool is_patient(struct zmulticast *m)
{
	int64_t now = now_ns();
	if (m->uneven_ns == 0)
		m->uneven_ns = now;
	return now - m->uneven_ns < m->patience_ns;
}

/* Those that can share a message; those that never can are let go. soon: how many may yet. */
static void gather_batch(struct zmulticast *m, struct batch *b, int *soon)
{
	b->n = *soon = 0;
	for (int i = m->ntied; i-- > 0;) {
		struct zop *op = m->tied[i];
		enum readiness ready = look_at(m, op->remote, op);
		if (ready == ALONE)
			let_go(op);
		else if (ready == SOON)
			++*soon;
		else if (b->n < (int)ZWIRE_RECEIVERS_MAX)
			add_to_batch(b, op->remote, op);
	}
}

/* What is held waits for room on the carrier, and a while for room in the windows of receivers. */
static bool post_held(struct zmulticast *m)
{
	int before = m->ntied;
	while (m->ntied > 0 && !zmulticast_carrier()->full) {
		struct batch b;
		int soon;
		gather_batch(m, &b, &soon);
		if ((soon > 0 && is_patient(m)) || (b.n > 1 && post_batch(m, &b) != 0))
			break;
		if (b.n == 1)
			let_go(b.op[0]);
		for (int i = 0; b.n > 1 && i < b.n; i++) {
			zop_list_pop(&b.remote[i]->pending); /* is b.op[i] */
			zop_finish_send(b.op[i], MPI_SUCCESS);
			zoutgoing_pump(b.remote[i]);
		}
		while (soon > 0 && m->ntied > 0) /* enough waited */
			let_go(m->tied[m->ntied - 1]);
	}
	return m->ntied < before;
}

static int start_small(struct zmulticast *m, const int *dest)
{
	bool few[64], *alone = m->n <= 64 ? few : zpool_get((size_t)m->n);
	if (!alone)
		return MPI_ERR_NO_MEM;
	bool posted = post_at_once(m, dest, alone);
	for (int i = 0; i < m->n; i++) {
		if (alone[i])
			send_alone(m, dest[i]);
		else if (!posted)
			hold(m, dest[i]);
	}
	if (alone != few)
		zpool_put(alone);
	if (m->ntied > 0)
		post_held(m);
	return MPI_SUCCESS;
}

/* --- large messages --- */

static bool has_more(const struct zop *op)
{
	return op->granted > op->moved;
}

/* Into the carrier's list of what can be sent, if it can. */
static void offer(struct zmulticast *m)
{
	struct zop *first = m->ntied > 0 ? m->tied[0] : NULL;
	if (first && !first->queued && zmulticast_sendable(first) > 0)
		zop_list_push(&zmulticast_carrier()->data, first);
}

uint64_t zmulticast_sendable(const struct zop *op)
{
	const struct zmulticast *m = op->multicast;
	uint64_t granted = op->granted;
	if (!m)
		return granted - op->moved;
	for (int i = 0; i < m->ntied; i++)
		if (m->tied[i]->granted < granted)
			granted = m->tied[i]->granted;
	return granted - m->moved;
}

void zmulticast_granted(struct zop *op)
{
	offer(op->multicast);
}

static int list_tied(const struct zmulticast *m)
{
	struct zwire_receiver list[ZWIRE_RECEIVERS_MAX];
	for (int i = 0; i < m->ntied; i++)
		list[i] = receiver_of(m->tied[i]->remote, 0, m->tied[i]->peer_xfer);
	return post_list(list, m->ntied, m);
}

static int list_one(const struct zop *op)
{
	struct zwire_receiver one = receiver_of(op->remote, 0, op->peer_xfer);
	return post_list(&one, 1, op);
}

int zmulticast_post_data(struct zop *op, uint64_t len)
{
	struct zmulticast *m = op->multicast;
	const void *whose = m ? (const void *)m : op;
	struct zwire_env env = {.kind = ZWIRE_DATA, .offset = op->moved, .len = (uint32_t)len};
	int rc = listed == whose ? 0 : m ? list_tied(m) : list_one(op);
	if (rc == 0)
		rc = post_message(&env, op->data.dense + op->moved);
	if (rc != 0)
		return rc;
	if (!m) {
		op->moved += len;
		return 0;
	}
	m->moved += len;
	for (int i = 0; i < m->ntied; i++)
		m->tied[i]->moved = m->moved;
	return 0;
}

void zmulticast_part(struct zop *op)
{
	struct zmulticast *m = op->multicast;
	int at = 0;
	while (m->tied[at] != op)
		at++;
	if (!op->held && op->queued && op->granted > 0) /* else it has not been offered yet: another list */
		zop_list_del(&zmulticast_carrier()->data, op);
	m->ntied--;
	memmove(m->tied + at, m->tied + at + 1, (size_t)(m->ntied - at) * sizeof(struct zop *));
	op->multicast = NULL;
	op->held = false;
	op->by_list = op->moved > 0; /* the fragments of a transfer stay in order */
	if (listed == m)
		listed = NULL;
	if (m->data.bytes > zworld.eager_bytes)
		offer(m);
}

/* Does somebody hold up the others? */
static bool is_uneven(const struct zmulticast *m)
{
	bool some = false, all = true;
	for (int i = 0; i < m->ntied; i++) {
		some |= has_more(m->tied[i]);
		all &= has_more(m->tied[i]);
	}
	return some && !all;
}

static void part_from_laggards(struct zmulticast *m)
{
	for (int i = m->ntied; i-- > 0;)
		if (!has_more(m->tied[i]))
			zmulticast_part(m->tied[i]);
}

static bool wait_for_grants(struct zmulticast *m)
{
	if (m->ntied < 2 || !is_uneven(m)) {
		m->uneven_ns = 0;
		return false;
	}
	int64_t now = now_ns();
	if (m->uneven_ns == 0)
		m->uneven_ns = now;
	if (now - m->uneven_ns < m->patience_ns)
		return false;
	m->uneven_ns = 0;
	part_from_laggards(m);
	return true;
}

static void send_tied(struct zmulticast *m, int dest)
{
	struct zop *op = make_send(m, dest);
	if (!op)
		return;
	if (m->ntied < (int)ZWIRE_RECEIVERS_MAX && is_bridged(op->remote) && !op->remote->stream.gone) {
		op->multicast = m;
		m->tied[m->ntied++] = op;
	}
	start_send(m, op);
}

/* --- together --- */

/* Where its parts are complete, it is. */
static bool collect(struct zmulticast *m)
{
	for (int i = m->nsends; i-- > 0;) {
		struct zreq *r = m->sends[i];
		if (!r->done)
			continue;
		if (r->status.MPI_ERROR != MPI_SUCCESS && m->error == MPI_SUCCESS)
			m->error = r->status.MPI_ERROR;
		if (listed == r)
			listed = NULL;
		zreq_release(r);
		m->sends[i] = m->sends[--m->nsends];
	}
	return m->nsends == 0;
}

static void finish(struct zmulticast *m)
{
	if (listed == m)
		listed = NULL;
	zstatus_empty(&m->req.status);
	m->req.status.MPI_ERROR = m->error;
	zreq_complete(&m->req);
}

bool zmulticast_turn(void)
{
	struct zmulticast **at = &active;
	bool did = false;
	while (*at) {
		struct zmulticast *m = *at;
		did |= m->data.bytes <= zworld.eager_bytes ? m->ntied > 0 && post_held(m) : wait_for_grants(m);
		if (!collect(m)) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		finish(m);
		did = true;
	}
	return did;
}

/* Does a large message go by lists, and not by one-sided transfers or packed for each? */
static bool is_shareable(const struct zmulticast *m)
{
	return m->data.dense && !ztransfer_would_expose(zmulticast_carrier(), m->data.bytes);
}

static int prepare(struct zmulticast *m)
{
	size_t list = (size_t)m->n * (sizeof(struct zreq *) + sizeof(struct zop *));
	int rc = zdata_view(&m->data, m->buf, m->count, m->type);
	if (rc != MPI_SUCCESS)
		return rc;
	m->sends = zpool_get(list);
	if (!m->sends)
		return MPI_ERR_NO_MEM;
	m->tied = (struct zop **)(void *)(m->sends + m->n);
	if (m->data.dense || m->data.bytes > zworld.eager_bytes)
		return MPI_SUCCESS;
	m->packed = zpool_get(m->data.bytes ? m->data.bytes : 1);
	return m->packed ? zdata_pack(m->packed, m->data.bytes, m->buf, m->count, m->type) : MPI_ERR_NO_MEM;
}

int zmulticast_start(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	const int *dest, int n, int tag, int64_t patience_ms, struct zreq **out)
{
	struct zmulticast *m = (struct zmulticast *)(void *)zreq_create(&ops, sizeof(*m), c);
	if (!m)
		return MPI_ERR_NO_MEM;
	m->context = context;
	m->buf = buf;
	m->count = count;
	m->type = type;
	m->tag = tag;
	m->n = n;
	m->patience_ns = patience_ms * 1000000;
	int rc = prepare(m);
	if (rc != MPI_SUCCESS) {
		zreq_release(&m->req);
		return rc;
	}
	bool small = m->data.bytes <= zworld.eager_bytes, share = !small && is_shareable(m);
	if (small)
		rc = start_small(m, dest);
	for (int i = 0; i < n && !small; i++) {
		if (share)
			send_tied(m, dest[i]);
		else
			send_alone(m, dest[i]);
	}
	if (rc != MPI_SUCCESS) {
		zreq_release(&m->req);
		return rc;
	}
	*out = &m->req;
	if (collect(m)) {
		finish(m);
		return MPI_SUCCESS;
	}
	m->next = active;
	active = m;
	return MPI_SUCCESS;
}
