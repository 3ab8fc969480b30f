/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of a trunk, see trunk_stream.h. */
#include "zipperd/trunk/trunk_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipperd/conn/crew.h"

#define UNREAD_MAX_BYTES (4 * ZWIRE_MAX_PAYLOAD) /* of a stream that has not become a channel */

struct member {		      /* a stream of a trunk */
	struct stream stream; /* first: the channel's link */
	UT_hash_handle by_id;
	struct trunk *trunk;
	struct conn *conn;	     /* until it is a channel; NULL: it is one, or begins here */
	struct parcel *head, **tail; /* its messages that conn has not read yet */
	size_t unread;
	int ended; /* why it says nothing more, as poll in transport.h; 0: it may */
};

static struct member *member_of(struct zlink *z)
{
	return (struct member *)(void *)z;
}

static void drop_unread(struct member *m)
{
	while (m->head) {
		struct parcel *p = m->head;
		m->head = p->next;
		free(p);
	}
	m->tail = &m->head;
	m->unread = 0;
}

static void free_member(struct member *m)
{
	struct trunk *t = m->trunk;
	HASH_DELETE(by_id, t->members, m);
	t->nstreams--;
	drop_unread(m);
	free(m);
	if (!t->members)
		t->idle(t);
}

static void end_stream(struct trunk *, uint32_t id);

/* No worker has the stream any more. */
static void stream_closed(struct stream *s)
{
	struct member *m = (struct member *)(void *)s;
	if (!s->lent) /* nor had one, to say CLOSE */
		end_stream(m->trunk, s->id);
	free_member(m);
}

static struct member *make_member(struct trunk *t, uint32_t id, const struct ztransport *ops)
{
	struct member *m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->trunk = t;
	m->tail = &m->head;
	m->stream.base.ops = ops;
	snprintf(m->stream.base.peer, sizeof(m->stream.base.peer), "%.40s, stream %u", t->channel->zlink->peer, id);
	m->stream.id = id;
	m->stream.rx = &t->rx;
	m->stream.tx = &t->tx;
	m->stream.window = ZWIRE_STREAM_FIRST;
	m->stream.closed = stream_closed;
	HASH_ADD(by_id, t->members, stream.id, sizeof(id), m);
	t->nstreams++;
	list_del(&t->quiet);
	return m;
}

struct zlink *trunk_stream_begin(struct trunk *t)
{
	const uint32_t id = atomic_load(&t->rx.begun) + 1;
	struct member *m = make_member(t, id, &ztransport_stream);
	if (!m)
		return NULL;
	atomic_store(&t->rx.begun, id);
	crew_send(t->daemon, t->rx.worker,
		&(struct command){.kind = CMD_STREAM_NEW, .source = &t->channel->source, .dest = id});
	return &m->stream.base;
}

/* --- a stream that is a connection: its operations, which this thread calls --- */

static void send_parcel(struct trunk *t, uint32_t id, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload,
	size_t len)
{
	if (t->channel->dropping)
		return;
	struct parcel *p = stream_parcel(env, payload, len);
	if (!p) /* a connection that hears nothing gives up */
		return;
	stream_put_id(p->env, id);
	crew_send(t->daemon, t->tx.worker,
		&(struct command){.kind = CMD_TRUNK_SEND, .tx = &t->channel->tx, .parcel = p});
}

static int park_post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct member *m = member_of(z);
	struct stream *s = &m->stream;
	if (m->ended)
		return -EPIPE;
	if (!stream_fits(s->sent - s->granted, s->window, ZWIRE_ENV_BYTES + len))
		return -EAGAIN; /* it waits in conn, as for any connection that does not read */
	s->sent += ZWIRE_ENV_BYTES + len;
	send_parcel(m->trunk, m->stream.id, env, payload, len);
	return 0;
}

static int park_flush(struct zlink *z)
{
	(void)z;
	return 0;
}

static int park_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct member *m = member_of(z);
	struct zwire_env env;
	int n = 0;
	for (; m->head && n < (int)budget; n++) {
		struct parcel *p = m->head;
		int rc = zwire_decode(&env, p->env);
		if (rc == 0 && sink->max_len > 0 && env.len > sink->max_len)
			rc = -EPROTO;
		env.job = 0;
		if (rc == 0)
			rc = sink->take(sink->ctx, &env, p->env, p->payload);
		m->head = p->next;
		if (!m->head)
			m->tail = &m->head;
		m->unread -= p->len;
		free(p);
		if (rc < 0)
			return rc;
	}
	return n > 0 ? n : m->ended;
}

static int park_arm(struct zlink *z, enum zlink_half half)
{
	const struct member *m = member_of(z);
	return half == ZLINK_RX && (m->head || m->ended != 0);
}

static int park_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)z;
	(void)half;
	*events = 0;
	return -1;
}

static void say_close(struct trunk *t, uint32_t id)
{
	const struct zwire_env env = {.kind = ZWIRE_CLOSE, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, &env);
	send_parcel(t, id, raw, NULL, 0);
}

void trunk_stream_leave(struct trunk *t)
{
	if (t->channel->lent)
		say_close(t, 0);
}

static void end_stream(struct trunk *t, uint32_t id)
{
	if (t->channel->dropping)
		return;
	say_close(t, id);
	crew_send(t->daemon, t->rx.worker,
		&(struct command){.kind = CMD_STREAM_END, .source = &t->channel->source, .dest = id});
}

static void park_close(struct zlink *z)
{
	struct member *m = member_of(z);
	end_stream(m->trunk, m->stream.id);
	free_member(m);
}

static const struct ztransport parked = {
	.name = "stream",
	.post = park_post,
	.flush = park_flush,
	.poll = park_poll,
	.arm = park_arm,
	.fd = park_fd,
	.close = park_close,
	.max_payload = ZWIRE_MAX_PAYLOAD,
};

bool trunk_stream_lend(struct zlink *z)
{
	struct member *m = member_of(z);
	if (m->ended || m->trunk->over)
		return false;
	m->conn = NULL;
	z->ops = &ztransport_stream;
	return true;
}

static void give_back(struct trunk *t, uint32_t id, struct parcel *p)
{
	crew_send(t->daemon, t->rx.worker,
		&(struct command){.kind = CMD_STREAM_SAY, .source = &t->channel->source, .dest = id, .parcel = p});
}

void trunk_stream_say_rest(struct zlink *z)
{
	struct member *m = member_of(z);
	while (m->head) {
		struct parcel *p = m->head;
		m->head = p->next;
		give_back(m->trunk, m->stream.id, p);
	}
	m->tail = &m->head;
}

/* --- what comes from the worker --- */

static struct member *greet(struct trunk *t, uint32_t id)
{
	struct member *m = make_member(t, id, &parked);
	if (!m)
		return NULL;
	m->conn = conn_create_inner(t->daemon, t->listener, &m->stream.base, t->conn_ready);
	if (!m->conn) {
		free_member(m);
		return NULL;
	}
	m->conn->seal = t->seal;
	memcpy(m->conn->hop_user, t->user, sizeof(m->conn->hop_user));
	return m;
}

static void wake(struct member *m)
{
	if (m->conn && !list_linked(&m->conn->again))
		list_add(&m->trunk->daemon->again, &m->conn->again);
}

/* CREDIT */
static void take_room(struct member *m, const struct parcel *p)
{
	struct zwire_env env;
	if (zwire_decode(&env, p->env) != 0 || env.offset > m->stream.sent)
		m->ended = -EPROTO;
	if (m->ended)
		return;
	m->stream.granted = env.offset > m->stream.granted ? env.offset : m->stream.granted;
	m->stream.window = env.xfer;
}

static void push(struct member *m, struct parcel *p)
{
	p->next = NULL;
	*m->tail = p;
	m->tail = &p->next;
	m->unread += p->len;
}

void trunk_stream_hear(struct trunk *t, const struct event *e)
{
	struct member *m;
	struct parcel *p = e->parcel;
	HASH_FIND(by_id, t->members, &e->dest, sizeof(e->dest), m);
	if (!m && p && e->first && !t->over)
		m = greet(t, e->dest);
	if (!m) {
		free(p);
		if (e->first) /* else it has ended already */
			end_stream(t, e->dest);
		return;
	}
	if (m->stream.base.ops != &parked) { /* it has become a channel meanwhile; of its end the worker hears */
		if (p && !t->channel->dropping)
			give_back(t, e->dest, p);
		else
			free(p);
		return;
	}
	if (p && p->env[1] == ZWIRE_CREDIT) { /* offset of kind in wire.h */
		take_room(m, p);
		free(p);
	} else if (p) {
		push(m, p);
	}
	if (!p)
		m->ended = -ESHUTDOWN;
	else if (m->unread > UNREAD_MAX_BYTES)
		m->ended = -EPROTO;
	wake(m);
}

void trunk_stream_end_all(struct trunk *t)
{
	struct member *m, *after;
	HASH_ITER(by_id, t->members, m, after) {
		if (m->stream.base.ops != &parked)
			continue;
		m->ended = -ECONNRESET;
		wake(m);
	}
}
