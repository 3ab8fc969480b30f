/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of trunks and of their streams, see stream.h. */
#include "zipperd/lane/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "zipperd/lane/tx.h"
#include "zipperd/lane/worker.h"

#define MORE_BYTES (ZWIRE_STREAM_LARGE - ZWIRE_STREAM_FIRST)
#define NARROW_TRIES 8 /* streams with a large window that are looked at */

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

int stream_begin(struct trunk_rx *t, uint32_t id, enum stream_state state)
{
	while (t->newest < id) {
		struct stream_in *in = calloc(1, sizeof(*in));
		if (!in)
			return -ENOMEM;
		in->id = ++t->newest;
		in->state = state;
		in->trunk = t;
		in->window = in->most = ZWIRE_STREAM_FIRST;
		in->tail = &in->head;
		HASH_ADD(hh, t->streams, id, sizeof(in->id), in);
	}
	return 0;
}

/* Messages that wait here count for the memory of all messages that wait. */
static _Atomic uint64_t *memory_of(const struct stream_in *in)
{
	return &in->trunk->worker->pool.budget->used;
}

void stream_unhold(struct stream_in *in)
{
	struct parcel *p = in->head;
	in->head = p->next;
	if (!in->head)
		in->tail = &in->head;
	in->held -= ZWIRE_ENV_BYTES + (uint64_t)p->len;
	atomic_fetch_sub_explicit(memory_of(in), sizeof(*p) + p->len, memory_order_relaxed);
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
	if (!in || in->state == STREAM_ENDED)
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
	atomic_fetch_add_explicit(memory_of(in), sizeof(*p) + len, memory_order_relaxed);
	if (in->source && !list_linked(&in->waits))
		list_add(&in->source->lane->worker->streams_held, &in->waits);
	return true;
}

/* --- windows --- */

static uint64_t gone_on(const struct stream_in *in)
{
	const struct lane *l = in->source ? in->source->lane : NULL;
	return in->taken - (l && l->circuit ? l->dest[0].queued_bytes : 0);
}

static struct share *share_of(const struct stream_in *in)
{
	return in->source->lane->memory.share;
}

/* Is there memory for the large window? All of them together have half of it, and half of their user's. */
static bool take_memory(struct budget *b, struct share *s)
{
	if (s && atomic_load_explicit(&s->used, memory_order_relaxed) + MORE_BYTES > atomic_load(&s->limit) / 2)
		return false;
	if (atomic_fetch_add_explicit(&b->promised, MORE_BYTES, memory_order_relaxed) + MORE_BYTES > b->limit / 2) {
		atomic_fetch_sub_explicit(&b->promised, MORE_BYTES, memory_order_relaxed);
		return false;
	}
	if (s)
		atomic_fetch_add_explicit(&s->used, MORE_BYTES, memory_order_relaxed);
	return true;
}

static void narrow(struct worker *w, struct stream_in *in)
{
	if (!list_linked(&in->wide))
		return;
	list_del(&in->wide);
	in->window = ZWIRE_STREAM_FIRST;
	atomic_fetch_sub_explicit(&w->pool.budget->promised, MORE_BYTES, memory_order_relaxed);
	if (share_of(in))
		atomic_fetch_sub_explicit(&share_of(in)->used, MORE_BYTES, memory_order_relaxed);
}

static void tell(struct worker *, struct stream_in *, enum note_what);

/* Takes the large window from a stream of that user which has moved nothing for longest, and has nothing that waits. */
static bool narrow_another(struct worker *w, const struct share *s)
{
	struct list *node, *after;
	int tries = 0;
	list_for_each(node, after, &w->streams_wide) {
		struct stream_in *in = list_entry(node, struct stream_in, wide);
		if (tries++ == NARROW_TRIES)
			break;
		if (share_of(in) != s || in->held > 0 || gone_on(in) != in->taken)
			continue;
		narrow(w, in);
		in->told = in->taken;
		tell(w, in, NOTE_GONE_ON);
		return true;
	}
	return false;
}

/* A stream that moves has the large window where there is memory. */
static void widen(struct worker *w, struct stream_in *in)
{
	if (!in->source)
		return;
	struct share *s = share_of(in);
	if (list_linked(&in->wide))
		list_del(&in->wide);
	else if (!take_memory(w->pool.budget, s) && !(narrow_another(w, s) && take_memory(w->pool.budget, s)))
		return;
	in->window = in->most = ZWIRE_STREAM_LARGE;
	list_add(&w->streams_wide, &in->wide);
}

void stream_end(struct worker *w, struct stream_in *in)
{
	narrow(w, in);
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
		.total = what == NOTE_ROOM ? in->room : in->told,
		.xfer = what == NOTE_ROOM ? in->allowed : in->window};
	if (ports_note(w, &note))
		return;
	in->room_due |= what == NOTE_ROOM;
	if (!list_linked(&in->due))
		list_add(&w->streams_due, &in->due);
}

void stream_return(struct worker *w, struct stream_in *in)
{
	const uint64_t gone = gone_on(in);
	if (gone < in->told + in->window / 4 || in->closed)
		return;
	in->told = gone;
	widen(w, in);
	tell(w, in, NOTE_GONE_ON);
}

void stream_granted(struct worker *w, struct stream_in *in, const struct zwire_env *credit)
{
	in->room = credit->offset;
	in->allowed = credit->xfer;
	tell(w, in, NOTE_ROOM);
}

/* --- sending --- */

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
		free(p);
	}
	t->tail = &t->head;
}

void stream_add_tx(struct stream *s, struct tx *half)
{
	s->half = half;
	s->lent = true;
	HASH_ADD(hh, s->tx->streams, id, sizeof(s->id), s);
}

static void fail_for(struct trunk_tx *t, int rc, const char *breach)
{
	if (t->error)
		return;
	t->error = rc;
	ports_emit(t->worker, &(struct event){.kind = EVENT_HALF_LOST,
				      .channel = t->channel,
				      .half = ZLINK_TX,
				      .rc = rc,
				      .breach = breach});
}

static void fail(struct trunk_tx *t, int rc)
{
	fail_for(t, rc, NULL);
}

void stream_send(struct trunk_tx *t, struct parcel *p)
{
	if (t->error) {
		free(p);
		return;
	}
	p->next = NULL;
	*t->tail = p;
	t->tail = &p->next;
	wait_for_link(t);
}

static void say(struct trunk_tx *t, uint32_t id, uint8_t kind, uint64_t offset, uint64_t window)
{
	const struct zwire_env env =
		{.kind = kind, .job = id, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY, .xfer = window, .offset = offset};
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, &env);
	struct parcel *p = stream_parcel(raw, NULL, 0);
	if (!p) { /* the other side would wait in vain */
		fail(t, -ENOMEM);
		return;
	}
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
		say(t, note->src, ZWIRE_CREDIT, note->total, note->xfer);
		return;
	}
	HASH_FIND(hh, t->streams, &note->src, sizeof(note->src), s);
	if (!s || note->total < s->granted) /* an older word that came by the control thread */
		return;
	if (note->total > s->sent) {
		fail_for(t, -EPROTO, "more of a stream has gone on than was sent");
		return;
	}
	s->granted = note->total;
	s->window = note->xfer;
	if (!list_linked(&s->waiting))
		wake(w, s);
}

/* Does the window forbid so many bytes more? */
static bool is_spent(const struct stream *s, uint64_t bytes)
{
	return !stream_fits(s->sent - s->granted, s->window, bytes);
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
		free(p);
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
	say(t, s->id, ZWIRE_CLOSE, 0, 0);
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
