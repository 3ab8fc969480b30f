/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of trunks and of their streams, see stream.h. */
#include "zipperd/lane/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "zipperd/lane/tx.h"
#include "zipperd/lane/worker.h"

#define RETURN_BYTES (ZWIRE_STREAM_WINDOW / 4) /* the other side hears of so many at a time */

struct parcel *stream_parcel(const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct parcel *p = malloc(sizeof(*p) + len);
	if (!p)
		return NULL;
	p->next = NULL;
	p->len = (uint32_t)len;
	memcpy(p->env, raw, sizeof(p->env));
	if (len > 0) /* else there may be no payload */
		memcpy(p->payload, payload, len);
	return p;
}

/* --- receiving --- */

struct stream_in *stream_begin(struct trunk_rx *t, uint32_t id)
{
	struct stream_in *in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	in->id = id;
	in->trunk = t;
	in->tail = &in->head;
	HASH_ADD(hh, t->streams, id, sizeof(in->id), in);
	return in;
}

static uint64_t size_of(const struct parcel *p)
{
	return sizeof(*p) + p->len;
}

void stream_unhold(struct stream_in *in)
{
	struct parcel *p = in->head;
	in->head = p->next;
	if (!in->head)
		in->tail = &in->head;
	in->held -= ZWIRE_ENV_BYTES + (uint64_t)p->len;
	free(p);
}

static void drop_held(struct stream_in *in)
{
	list_del(&in->waits);
	while (in->head)
		stream_unhold(in);
}

void stream_free(struct stream_in *in)
{
	list_del(&in->due);
	drop_held(in);
	HASH_DEL(in->trunk->streams, in);
	free(in);
}

int stream_add_source(struct source *s)
{
	struct stream *z = stream_of(s->zlink);
	struct stream_in *in = stream_find(z->rx, z->id);
	if (!in && !(in = stream_begin(z->rx, z->id)))
		return -ENOMEM;
	if (in->state == STREAM_ENDED)
		return -ESHUTDOWN;
	in->state = STREAM_RUNS;
	in->source = s;
	s->stream = in;
	if (s->lane->circuit)
		s->lane->stream = in;
	if (in->head || in->closed)
		list_add(&s->lane->worker->streams_held, &in->waits);
	return 0;
}

bool stream_hold(struct stream_in *in, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, uint32_t len)
{
	struct parcel *p = stream_parcel(raw, payload, len);
	if (!p)
		return false;
	*in->tail = p;
	in->tail = &p->next;
	in->held += ZWIRE_ENV_BYTES + (uint64_t)len;
	if (in->source && !list_linked(&in->waits))
		list_add(&in->source->lane->worker->streams_held, &in->waits);
	return true;
}

void stream_end(struct worker *w, struct stream_in *in)
{
	if (in->source) {
		in->source->lane->stream = NULL;
		in->source->stream = NULL;
	}
	in->source = NULL;
	in->state = STREAM_ENDED;
	in->taken += in->held;
	drop_held(in);
	if (in->closed)
		stream_free(in);
	else
		stream_return(w, in); /* of a circuit: what waited for the link will not go on */
}

static void tell(struct worker *w, struct stream_in *in, enum note_what what)
{
	const struct note note = {.what = what,
		.job = in->trunk->number,
		.src = in->id,
		.total = what == NOTE_ROOM ? in->room : in->told};
	if (ports_note(w, &note))
		return;
	in->room_due |= what == NOTE_ROOM;
	if (!list_linked(&in->due))
		list_add(&w->streams_due, &in->due);
}

void stream_return(struct worker *w, struct stream_in *in)
{
	const struct lane *l = in->source ? in->source->lane : NULL;
	const uint64_t gone = in->taken - (l && l->circuit ? l->dest[0].queued_bytes : 0);
	if (gone - in->told < RETURN_BYTES || in->closed)
		return;
	in->told = gone;
	tell(w, in, NOTE_GONE_ON);
}

void stream_granted(struct worker *w, struct stream_in *in, uint64_t total)
{
	in->room = total;
	tell(w, in, NOTE_ROOM);
}

/* --- sending --- */

static void drop(struct trunk_tx *t, struct parcel *p)
{
	atomic_fetch_sub(&t->backlog, size_of(p));
	free(p);
}

static void wait_for_link(struct trunk_tx *t)
{
	if (!list_linked(&t->full))
		list_add(&t->worker->trunks_full, &t->full);
}

/* The streams that wait for the link may try again. */
static void wake(struct worker *w, const struct stream *s)
{
	struct dest *d = s->half ? s->half->dest : NULL;
	if (!d)
		return;
	tx_warm(w, d);
	d->tries = 0;
	if (!list_linked(&d->blocked))
		list_add(&w->blocked, &d->blocked);
}

static void wake_all(struct worker *w, struct trunk_tx *t)
{
	while (!list_empty(&t->waiting)) {
		struct stream *s = list_entry(t->waiting.next, struct stream, waiting);
		list_del(&s->waiting);
		wake(w, s);
	}
}

void stream_add_trunk(struct worker *w, struct trunk_tx *t)
{
	t->waiter = WAITER_TRUNK;
	t->tail = &t->head;
	list_init(&t->waiting);
	HASH_ADD(of_worker, w->trunks, number, sizeof(t->number), t);
}

void stream_drop_trunk(struct worker *w, struct trunk_tx *t)
{
	wake_all(w, t);
	list_del(&t->full);
	HASH_DELETE(of_worker, w->trunks, t);
	if (t->in_epoll)
		epoll_ctl(w->tx_epoll, EPOLL_CTL_DEL, t->fd, NULL);
	t->in_epoll = false;
	while (t->head) {
		struct parcel *p = t->head;
		t->head = p->next;
		drop(t, p);
	}
	t->tail = &t->head;
}

void stream_add_tx(struct stream *s, struct tx *half)
{
	s->half = half;
	HASH_ADD(hh, s->tx->streams, id, sizeof(s->id), s);
}

static void fail(struct trunk_tx *t, int rc)
{
	if (t->error)
		return;
	t->error = rc;
	ports_emit(t->worker,
		&(struct event){.kind = EVENT_HALF_LOST, .channel = t->channel, .half = ZLINK_TX, .rc = rc});
}

void stream_send(struct trunk_tx *t, struct parcel *p)
{
	if (t->error) {
		drop(t, p);
		return;
	}
	p->next = NULL;
	*t->tail = p;
	t->tail = &p->next;
	wait_for_link(t);
}

static void say(struct trunk_tx *t, uint32_t id, uint8_t kind, uint64_t offset)
{
	const struct zwire_env env = {.kind = kind,
		.job = id,
		.src = ZWIRE_NOBODY,
		.dst = ZWIRE_NOBODY,
		.offset = offset};
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, &env);
	struct parcel *p = stream_parcel(raw, NULL, 0);
	if (!p) { /* the other side would wait in vain */
		fail(t, -ENOMEM);
		return;
	}
	atomic_fetch_add(&t->backlog, size_of(p));
	stream_send(t, p);
}

void stream_take_note(struct worker *w, const struct note *note)
{
	struct trunk_tx *t;
	struct stream *s;
	HASH_FIND(of_worker, w->trunks, &note->job, sizeof(note->job), t);
	if (!t)
		return;
	if (note->what == NOTE_GONE_ON) {
		say(t, note->src, ZWIRE_CREDIT, note->total);
		return;
	}
	HASH_FIND(hh, t->streams, &note->src, sizeof(note->src), s);
	if (!s)
		return;
	s->granted = note->total;
	if (!list_linked(&s->waiting))
		wake(w, s);
}

/* Does the window forbid so many bytes more? */
static bool is_spent(const struct stream *s, uint64_t bytes)
{
	return s->sent > s->granted && s->sent - s->granted + bytes > ZWIRE_STREAM_WINDOW;
}

void stream_cool(struct worker *w, struct stream *s)
{
	struct dest *d = s->half->dest;
	/* Also where the window is spent: the link may hold back a message whose arrival makes room. */
	wait_for_link(s->tx);
	if (!(d->head && is_spent(s, ZWIRE_ENV_BYTES + (uint64_t)d->head->len)) && !list_linked(&s->waiting))
		list_add(&s->tx->waiting, &s->waiting);
	d->cold = true;
	w->cold_txs++;
	list_del(&d->blocked);
}

static int send_parcels(struct trunk_tx *t)
{
	int rc = 0;
	while (rc == 0 && t->head) {
		struct parcel *p = t->head;
		rc = t->carrier->ops->post(t->carrier, p->env, p->payload, p->len);
		if (rc != 0)
			break;
		t->head = p->next;
		if (!t->head)
			t->tail = &t->head;
		drop(t, p);
	}
	const int flushed = t->carrier->ops->flush(t->carrier);
	if (rc != 0 && rc != -EAGAIN)
		return rc;
	return flushed != 0 ? flushed : rc;
}

static void tell_due(struct worker *w)
{
	struct list *node, *after;
	list_for_each(node, after, &w->streams_due) {
		struct stream_in *in = list_entry(node, struct stream_in, due);
		list_del(&in->due);
		tell(w, in, NOTE_GONE_ON);
		if (in->room_due) {
			in->room_due = false;
			tell(w, in, NOTE_ROOM);
		}
		if (list_linked(&in->due)) /* the ring is full again */
			return;
	}
}

bool stream_turn(struct worker *w)
{
	struct list *node, *after;
	bool moved = false;
	if (!list_empty(&w->streams_due))
		tell_due(w);
	list_for_each(node, after, &w->trunks_full) {
		struct trunk_tx *t = list_entry(node, struct trunk_tx, full);
		const bool any = t->head != NULL;
		int rc = t->error ? t->error : send_parcels(t);
		moved |= any && !t->head;
		if (rc == -EAGAIN)
			continue;
		if (rc != 0)
			fail(t, rc);
		list_del(&t->full);
		wake_all(w, t);
		moved = true;
	}
	return moved;
}

bool stream_sleep(struct worker *w)
{
	struct list *node, *after;
	bool busy = !list_empty(&w->streams_due);
	list_for_each(node, after, &w->trunks_full) {
		struct trunk_tx *t = list_entry(node, struct trunk_tx, full);
		uint32_t events = 0;
		if (t->error || t->carrier->ops->arm(t->carrier, ZLINK_TX) != 0) {
			busy = true;
			continue;
		}
		t->fd = t->carrier->ops->fd(t->carrier, ZLINK_TX, &events);
		struct epoll_event ev = {.events = events | EPOLLONESHOT, .data.ptr = t};
		if (epoll_ctl(w->tx_epoll, t->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, t->fd, &ev) == 0)
			t->in_epoll = true;
		else
			busy = true;
	}
	return busy;
}

/* --- a stream as a link --- */

static int post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct stream *s = (struct stream *)(void *)z;
	struct trunk_tx *t = s->tx;
	uint8_t raw[ZWIRE_ENV_BYTES];
	if (t->error)
		return t->error;
	if (env[1] > ZWIRE_ASK) /* a circuit's rank: those are for zipperds */
		return -EPROTO;
	if (t->head || is_spent(s, ZWIRE_ENV_BYTES + len))
		return -EAGAIN;
	memcpy(raw, env, sizeof(raw));
	stream_put_id(raw, s->id);
	int rc = t->carrier->ops->post(t->carrier, raw, payload, len);
	if (rc == 0)
		s->sent += ZWIRE_ENV_BYTES + len;
	else if (rc != -EAGAIN)
		fail(t, rc);
	return rc;
}

static int flush(struct zlink *z)
{
	struct trunk_tx *t = ((struct stream *)(void *)z)->tx;
	int rc = t->error ? t->error : t->carrier->ops->flush(t->carrier);
	if (rc == -EAGAIN)
		wait_for_link(t);
	else if (rc != 0)
		fail(t, rc);
	return rc;
}

static void stop_sending(struct zlink *z)
{
	struct stream *s = (struct stream *)(void *)z;
	struct trunk_tx *t = s->tx;
	list_del(&s->waiting);
	HASH_DEL(t->streams, s);
	s->half = NULL;
	say(t, s->id, ZWIRE_CLOSE, 0);
}

static int no_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)z;
	(void)half;
	*events = 0;
	return -1;
}

static void close_stream(struct zlink *z)
{
	struct stream *s = (struct stream *)(void *)z;
	s->closed(s);
}

const struct ztransport ztransport_stream = {
	.name = "stream",
	.close = close_stream,
	.post = post,
	.flush = flush,
	.stop_sending = stop_sending,
	.fd = no_fd,
	.max_payload = ZWIRE_MAX_PAYLOAD,
};
