/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of channels that a worker has, see half.h. */
#include "zipperd/lane/half.h"

#include <errno.h>
#include <sys/epoll.h>

#include "common/base/clock.h"
#include "zipperd/lane/borrowed.h"
#include "zipperd/lane/fanout.h"
#include "zipperd/lane/receivers.h"
#include "zipperd/lane/stream.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/tx.h"
#include "zipperd/lane/worker.h"

#define FINISH_MS 2000 /* the time for a receiver to take its queue when its circuit is over */

/* --- lanes --- */

void half_clear_lane(struct worker *w, struct lane *l)
{
	transfer_drop_lane(w, l);
	for (uint32_t i = 0; i < l->ndests; i++)
		if (l->dest[i].ready)
			dest_drop(w, &l->dest[i]);
	struct lane **at = &w->lanes;
	while (*at && *at != l)
		at = &(*at)->next;
	if (*at) /* lanes of circuits are not in the list */
		*at = l->next;
}

/* A lane goes with its last half, because operations under way on a half belong to the lane's transfers. */
static void settle_lane(struct worker *w, struct lane *l)
{
	if (!l->dropping || l->halves > 0)
		return;
	half_clear_lane(w, l);
	ports_emit(w, &(struct event){.kind = EVENT_LANE_GONE, .lane = l});
}

void half_drop_lane(struct worker *w, struct lane *l)
{
	l->dropping = true;
	settle_lane(w, l);
}

/* The half is in none of this worker's lists any more. From now on it is the control thread's. */
static void give_back_half(struct worker *w, struct lane *l, struct channel *c)
{
	ports_emit(w, &(struct event){.kind = EVENT_HALF_GONE, .channel = c});
	l->halves--;
	settle_lane(w, l);
}

/* --- sources --- */

/* Counts the hot sources, and the lanes that have some. */
static void count_hot(struct lane *l, int by)
{
	const bool before = l->deficit.hot > 0;
	l->deficit.hot += (uint32_t)by;
	l->worker->hot_sources += (uint32_t)by;
	l->worker->hot_lanes += (uint32_t)((l->deficit.hot > 0) - before);
	if (!before)
		deficit_renew(&l->deficit, l->worker->round); /* it had nothing for a while */
}

void half_move_source(struct source *s, struct list *to, enum source_state state)
{
	count_hot(s->lane, (state == SOURCE_HOT) - (s->state == SOURCE_HOT));
	list_del(&s->link);
	s->state = state;
	s->idle = 0;
	if (to)
		list_add(to, &s->link);
}

void half_watch_source(struct worker *w, struct source *s, bool watch)
{
	uint32_t events = 0;
	s->zlink->ops->fd(s->zlink, ZLINK_RX, &events);
	struct epoll_event ev = {.events = watch ? events : EPOLLONESHOT, .data.ptr = s};
	epoll_ctl(w->rx_epoll, EPOLL_CTL_MOD, s->fd, &ev);
}

static void source_gone(struct worker *w, struct source *s)
{
	transfer_source_gone(w, s);
	fanout_source_gone(s);
	receivers_source_gone(w, s);
	if (s->stream)
		stream_end(w, s->stream);
}

/* Of a trunk whose source is lost or dropped. */
static void lose_streams(struct worker *w, struct trunk_rx *t, int rc)
{
	struct stream_in *in, *after;
	HASH_ITER(hh, t->streams, in, after) {
		in->closed = true;
		if (in->source)
			half_lose_source(w, in->source, rc); /* ends and frees it */
		else
			stream_free(in);
	}
}

void half_lose_source(struct worker *w, struct source *s, int rc)
{
	if (s->state == SOURCE_GONE)
		return;
	epoll_ctl(w->rx_epoll, EPOLL_CTL_DEL, s->fd, NULL);
	half_move_source(s, NULL, SOURCE_GONE);
	source_gone(w, s);
	ports_emit(w, &(struct event){.kind = EVENT_HALF_LOST,
			      .channel = s->channel,
			      .half = ZLINK_RX,
			      .rc = rc,
			      .breach = s->breach});
	if (s->trunk)
		lose_streams(w, s->trunk, rc);
}

void half_settle_source(struct worker *w, struct source *s)
{
	if (!s->dropping || s->reads > 0)
		return;
	list_del(&s->reading);
	staging_leave(&w->staging, s->zlink, ZLINK_RX, s->region);
	give_back_half(w, s->lane, s->channel);
}

void half_drop_source(struct worker *w, struct source *s)
{
	if (s->state != SOURCE_GONE) {
		epoll_ctl(w->rx_epoll, EPOLL_CTL_DEL, s->fd, NULL);
		half_move_source(s, NULL, SOURCE_GONE);
		source_gone(w, s);
		if (s->trunk)
			lose_streams(w, s->trunk, -ESHUTDOWN);
	}
	s->dropping = true;
	if (s->reads > 0) /* of transfers that are DEAD; the other end may never answer */
		s->zlink->ops->rma->give_up(s->zlink, ZLINK_RX);
	half_settle_source(w, s);
}

/* The trunk's source polls it. */
static void add_stream(struct worker *w, struct source *s)
{
	int rc = stream_add_source(s);
	s->fd = -1;
	s->state = SOURCE_COLD;
	w->freed = true; /* the trunk may wait for it */
	if (rc != 0)
		half_lose_source(w, s, rc);
}

void half_add_source(struct worker *w, struct source *s)
{
	uint32_t events = 0;
	s->waiter = WAITER_SOURCE;
	s->lane->halves++;
	list_init(&s->transfers);
	list_init(&s->fanouts);
	if (stream_of(s->zlink)) {
		add_stream(w, s);
		return;
	}
	s->fd = s->zlink->ops->fd(s->zlink, ZLINK_RX, &events);
	struct epoll_event ev = {.events = events, .data.ptr = s};
	int rc = epoll_ctl(w->rx_epoll, EPOLL_CTL_ADD, s->fd, &ev) != 0 ? -errno : 0;
	half_move_source(s, &w->hot, SOURCE_HOT);
	if (rc != 0)
		half_lose_source(w, s, rc);
}

bool half_cool_source(struct worker *w, struct source *s)
{
	int rc = s->zlink->ops->arm(s->zlink, ZLINK_RX);
	if (rc < 0)
		half_lose_source(w, s, rc);
	else if (rc == 0)
		half_move_source(s, &w->cold, SOURCE_COLD);
	return rc > 0;
}

/* --- sending halves --- */

void half_add_tx(struct worker *w, uint32_t dest, struct tx *tx)
{
	tx->waiter = WAITER_TX;
	tx->lane->halves++;
	if (tx->trunk) {
		stream_add_trunk(w, tx->trunk);
		return;
	}
	if (stream_of(tx->zlink))
		stream_add_tx(stream_of(tx->zlink), tx);
	dest_add_tx(w, lane_dest(tx->lane, dest), tx);
}

void half_settle_tx(struct worker *w, struct tx *tx)
{
	if (!tx->dropping || tx->writes > 0)
		return;
	list_del(&tx->writing); /* where it is also while pieces wait and no write is under way */
	staging_leave(&w->staging, tx->zlink, ZLINK_TX, tx->region);
	borrowed_forget(w, tx->zlink);
	if (tx->zlink->ops->stop_sending)
		tx->zlink->ops->stop_sending(tx->zlink);
	give_back_half(w, tx->lane, tx->channel);
}

void half_drop_tx(struct worker *w, struct tx *tx)
{
	dest_drop_tx(w, tx);
	tx_unwatch(w, tx);
	if (tx->trunk)
		stream_drop_trunk(w, tx->trunk);
	tx->dropping = true;
	if (tx->writes > 0)
		tx->zlink->ops->rma->give_up(tx->zlink, ZLINK_TX);
	half_settle_tx(w, tx);
}

/* Does a message wait for the link? */
static bool is_sending(const struct dest *d)
{
	return d && (d->head || d->cold || list_linked(&d->blocked) || list_linked(&d->touched));
}

void half_finish_tx(struct worker *w, struct tx *tx)
{
	tx->finish_ms = zclock_ms() + FINISH_MS;
	list_add(&w->finishing, &tx->finishing);
}

void half_finish_turn(struct worker *w)
{
	struct list *node, *after;
	int64_t now = zclock_ms();
	list_for_each(node, after, &w->finishing) {
		struct tx *tx = list_entry(node, struct tx, finishing);
		if (is_sending(tx->dest) && now < tx->finish_ms)
			continue;
		list_del(&tx->finishing);
		half_drop_tx(w, tx);
	}
}
