/* SPDX-License-Identifier: BSD-3-Clause */
/* Circuits, from the first MEET until both connections are closed; see circuit.h. */
#include "zipperd/job/circuit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/dial.h"
#include "zipperd/conn/listener.h"
#include "zipperd/conn/quota.h"
#include "zipperd/lane/stream.h"

/* The time without a word until an end that takes nothing more has said its last, or its words find no room. */
#define LAST_WORDS_MS 2000

static const char *fabric_name(const struct circuit *c, int end)
{
	return c->daemon->settings.fabric[c->fabric[end]];
}

static bool is_timed(const struct circuit *c)
{
	return (c->last && !c->over) || (c->waiting && !c->hop);
}

void circuit_destroy(struct circuit *c)
{
	c->daemon->ncircuits_timed -= is_timed(c);
	list_del(&c->link);
	for (int i = 0; i < 2; i++) {
		lane_destroy(c->lane[i]);
		free(c->end[i]);
	}
	zauth_module.wipe(c->key, sizeof(c->key));
	free(c);
}

/* --- the first end --- */

static struct circuit *find_waiting(const struct daemon *d, const struct conn *conn, const struct zctl_meet *m,
	int from, int to)
{
	for (const struct list *node = d->circuits.next; node != &d->circuits; node = node->next) {
		struct circuit *c = list_entry(node, struct circuit, link);
		if (c->waiting && !c->hop && c->fabric[0] == to && c->fabric[1] == from &&
			strcmp(c->name, m->name) == 0 && strcmp(c->job, conn->hello.job) == 0 &&
			strcmp(c->user, conn->hello.user) == 0)
			return c;
	}
	return NULL;
}

struct circuit *circuit_create(struct daemon *d, struct conn *conn, int from, int to, const char *name)
{
	struct circuit *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->daemon = d;
	c->fabric[0] = from;
	c->fabric[1] = to;
	c->account = conn->user;
	memcpy(c->user, conn->hello.user, sizeof(c->user));
	memcpy(c->job, conn->hello.job, sizeof(c->job));
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->waiting = conn;
	list_add(&d->circuits, &c->link);
	conn->circuit = c;
	conn_settle(conn);
	return c;
}

void circuit_forget(struct circuit *c)
{
	c->waiting->circuit = NULL;
	if (!c->hop)
		quota_give(c->account, QUOTA_CIRCUITS);
	list_del(&c->of_trunk);
	if (c->dial) {
		dial_drop(c->dial);
		c->daemon->nconnections--;
		quota_give(c->account, QUOTA_CONNECTIONS);
	}
	circuit_destroy(c);
}

/* --- both ends --- */

static void failed(struct channel *e, const struct zerr *why);
static void closed(struct channel *e);
static const struct channel_owner circuit_owner = {.failed = failed, .closed = closed};

static struct channel *make_end(struct circuit *c)
{
	struct channel *e = channel_create(c->daemon, &circuit_owner);
	if (e)
		e->circuit = c;
	return e;
}

static struct lane *make_lane(struct circuit *c, struct worker *w)
{
	const struct settings *s = &c->daemon->settings;
	struct lane *l = lane_create_circuit();
	if (!l)
		return NULL;
	l->limits.dest_share = (uint64_t)s->dest_share;
	l->owner = c;
	l->memory.share = quota_memory(c->account);
	l->deficit.weight = quota_weight(c->account);
	lane_join(l, w);
	return l;
}

int circuit_make_lanes(struct circuit *c, struct zerr *err)
{
	struct worker *w =
		c->worker ? c->worker : crew_worker(c->daemon, c->fabric[0], c->fabric[1], crew_turn(c->daemon), err);
	if (!w)
		return -EAGAIN;
	c->lane[0] = make_lane(c, w);
	c->lane[1] = make_lane(c, w->opposite);
	for (int i = 0; i < 2; i++)
		c->end[i] = make_end(c);
	return c->lane[0] && c->lane[1] && c->end[0] && c->end[1] ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

int circuit_greet(struct circuit *c, int end, struct conn *conn, const struct zctl_msg *msg, struct zerr *err)
{
	conn_send(conn, msg);
	if (conn->state != CONN_READY || conn->head)
		return zerr_set(err, -EPIPE, "its connection has no room");
	const int rc = channel_settle(conn->zlink, c->lane[end]->worker, c->lane[!end]->worker, err);
	c->end[end]->waits = rc == ZSETTLE_WAITS;
	return rc < 0 ? rc : 0;
}

void circuit_begin(struct circuit *c, struct zlink *first, struct zlink *second)
{
	struct zlink *link[2] = {first, second};
	for (int i = 0; i < 2; i++) {
		struct channel *e = c->end[i];
		e->zlink = e->source.zlink = e->tx.zlink = link[i];
		e->user = c->account;
		e->inner = stream_of(link[i]) != NULL;
		e->source.channel = e->tx.channel = e;
		e->other = c->end[!i];
		e->source.lane = c->lane[i];
		e->tx.lane = c->lane[!i];
	}
	for (int i = 0; i < 2; i++)
		crew_send(c->daemon, c->lane[i]->worker, &(struct command){.kind = CMD_ADD_LANE, .lane = c->lane[i]});
	c->nlanes = 2;
	zlog(ZLOG_DEBUG, "circuit %s/%s/%s: %s and %s are connected", c->user, c->job, c->name, fabric_name(c, 0),
		fabric_name(c, 1));
	channel_begin(c->end[0], c->user);
	channel_begin(c->end[1], c->user);
}

static void refuse_both(struct circuit *c, struct conn *first, struct conn *second, const struct zerr *err)
{
	zlog(ZLOG_ERROR, "circuit %s/%s/%s: %s", c->user, c->job, c->name, err->text);
	conn_refuse(first, ENOMEM, "%s", err->text);
	conn_refuse(second, ENOMEM, "%s", err->text);
	circuit_destroy(c);
}

static void connect_ends(struct circuit *c, struct conn *second)
{
	struct conn *conn[2] = {c->waiting, second};
	struct zerr err = {.text = ""};
	c->daemon->ncircuits_timed--;
	quota_give(c->account, QUOTA_CIRCUITS);
	c->waiting->circuit = NULL;
	c->waiting = NULL;
	int rc = circuit_make_lanes(c, &err);
	/* Both ends hear MET before they hear each other. */
	for (int i = 0; i < 2 && rc >= 0; i++)
		rc = circuit_greet(c, i, conn[i], &(struct zctl_msg){.type = ZCTL_MET}, &err);
	if (rc < 0) {
		refuse_both(c, conn[0], conn[1], &err);
		return;
	}
	struct zlink *first = conn_release(conn[0]), *other = conn_release(conn[1]);
	circuit_begin(c, first, other);
}

static void wait_for_other(struct daemon *d, struct conn *conn, int from, int to, const char *name)
{
	struct zerr err;
	if (quota_take(conn->user, QUOTA_CIRCUITS, d->now_ms, &err) != 0) {
		conn_refuse(conn, EDQUOT, "%s", err.text);
		return;
	}
	struct circuit *c = circuit_create(d, conn, from, to, name);
	if (!c) {
		quota_give(conn->user, QUOTA_CIRCUITS);
		conn_refuse(conn, ENOMEM, "out of memory");
		return;
	}
	c->until_ms = d->now_ms + d->settings.meet_timeout_ms;
	d->ncircuits_timed++;
}

static void give_up(struct circuit *c)
{
	struct conn *conn = c->waiting;
	char name[sizeof(c->name)];
	memcpy(name, c->name, sizeof(name));
	circuit_forget(c);
	conn_refuse(conn, ETIMEDOUT, "nobody has asked for the other end of circuit %s within %g s (meet_timeout)",
		name, (double)conn->daemon->settings.meet_timeout_ms / 1000);
}

void circuit_meet(struct daemon *d, struct conn *conn, const struct zctl_meet *m)
{
	int from = settings_find_fabric(&d->settings, m->from), to = settings_find_fabric(&d->settings, m->to);
	if (d->stopping) {
		conn_refuse(conn, ESHUTDOWN, "zipperd is shutting down");
	} else if (from < 0 || to < 0) {
		conn_refuse(conn, ENOENT, "this zipperd serves no fabric '%s'", from < 0 ? m->from : m->to);
	} else if (!listener_serves(conn->listener, from)) {
		conn_refuse(conn, EINVAL, "%.80s does not serve fabric %s", conn->listener->text, m->from);
	} else {
		struct circuit *c = find_waiting(d, conn, m, from, to);
		if (c)
			connect_ends(c, conn);
		else
			wait_for_other(d, conn, from, to, m->name);
	}
}

/* --- the end --- */

static void log_end(const struct circuit *c)
{
	const struct lane_stats *there = &c->lane[0]->stats, *back = &c->lane[1]->stats;
	/* There is a hop for each rank and channel. */
	zlog(c->hop ? ZLOG_DEBUG : ZLOG_INFO,
		"circuit %s/%s/%s: over; %s>%s %" PRIu64 " bytes, %s>%s %" PRIu64 " bytes", c->user, c->job, c->name,
		fabric_name(c, 0), fabric_name(c, 1), atomic_load(&there->bytes), fabric_name(c, 1), fabric_name(c, 0),
		atomic_load(&back->bytes));
}

/* Nothing more is taken from either end. Messages that were taken still go out. */
static void end(struct circuit *c)
{
	if (c->over)
		return;
	c->daemon->ncircuits_timed -= is_timed(c);
	c->over = true;
	for (int i = 0; i < 2; i++) {
		struct worker *w = c->lane[i]->worker;
		struct channel *from = c->end[i], *to = c->end[!i];
		from->dropping = true;
		/* A channel that is not lent yet is closed when it is settled, or below. */
		if (from->lent)
			crew_send(c->daemon, w, &(struct command){.kind = CMD_DROP_SOURCE, .source = &from->source});
		if (to->lent)
			crew_send(c->daemon, w, &(struct command){.kind = CMD_FINISH_TX, .tx = &to->tx});
		crew_send(c->daemon, w, &(struct command){.kind = CMD_DROP_LANE, .lane = c->lane[i]});
	}
	for (int i = 0; i < 2; i++) {
		struct channel *e = c->end[i];
		if (e->ready && !e->lent) /* it has waited for the other end */
			channel_close(e);
		else if (!e->lent)
			channel_stop_settling(e);
	}
}

static void failed(struct channel *e, const struct zerr *err)
{
	struct circuit *c = e->circuit;
	zlog(ZLOG_ERROR, "circuit %s/%s/%s: %s", c->user, c->job, c->name, err->text);
	end(c);
}

static void free_if_unused(struct circuit *c)
{
	if (c->nlanes > 0 || c->end[0] || c->end[1])
		return;
	log_end(c);
	circuit_destroy(c);
}

static void closed(struct channel *e)
{
	struct circuit *c = e->circuit;
	if (e->other)
		e->other->other = NULL;
	c->end[e == c->end[1]] = NULL;
	free(e);
	free_if_unused(c);
}

static uint64_t count_words(const struct lane *l)
{
	return atomic_load_explicit(&l->stats.envelopes, memory_order_relaxed);
}

/* An end whose sending half is lost has mostly closed. Messages that it sent before may be on their way here, or wait
 * for room there. The end of its receiving half tells when they were all, but need not come where only one half broke.
 */
static void hear_last_words(struct circuit *c, const struct channel *e)
{
	c->last = c->lane[e == c->end[1]];
	c->daemon->ncircuits_timed++;
	c->said = count_words(c->last);
	c->until_ms = c->daemon->now_ms + LAST_WORDS_MS;
}

static void lose_half(struct circuit *c, const struct event *e)
{
	if (e->half == ZLINK_TX && !c->last && !c->over)
		hear_last_words(c, e->channel);
	else
		end(c);
}

void circuit_event(const struct event *e)
{
	if (e->kind == EVENT_HALF_LOST) {
		lose_half(e->channel->circuit, e);
	} else if (e->kind == EVENT_LANE_GONE) {
		struct circuit *c = e->lane->owner;
		c->nlanes--;
		free_if_unused(c);
	}
}

/* --- all of them --- */

bool circuit_any_timed(const struct daemon *d)
{
	return d->ncircuits_timed > 0;
}

void circuit_expire_all(struct daemon *d)
{
	struct list *node, *after;
	if (!circuit_any_timed(d)) /* there may be thousands of circuits */
		return;
	list_for_each(node, after, &d->circuits) {
		struct circuit *c = list_entry(node, struct circuit, link);
		if (!is_timed(c))
			continue;
		if (c->waiting) {
			if (c->until_ms <= d->now_ms)
				give_up(c);
			continue;
		}
		const uint64_t said = count_words(c->last);
		if (said != c->said)
			c->until_ms = d->now_ms + LAST_WORDS_MS;
		else if (c->until_ms <= d->now_ms)
			end(c);
		c->said = said;
	}
}

void circuit_end_all(struct daemon *d)
{
	struct list *node, *after;
	list_for_each(node, after, &d->circuits) {
		struct circuit *c = list_entry(node, struct circuit, link);
		struct conn *conn = c->waiting;
		if (!conn) {
			end(c);
			continue;
		}
		circuit_forget(c);
		conn_refuse(conn, ESHUTDOWN, "zipperd is shutting down");
	}
}

void circuit_count_all(const struct daemon *d, const char *user, const char *job,
	void (*add)(void *arg, const char *from, const char *to, const struct lane *), void *arg)
{
	for (const struct list *node = d->circuits.next; node != &d->circuits; node = node->next) {
		const struct circuit *c = list_entry(node, struct circuit, link);
		if (c->waiting || strcmp(c->user, user) != 0 || (job[0] && strcmp(c->job, job) != 0))
			continue;
		for (int i = 0; i < 2; i++)
			add(arg, fabric_name(c, i), fabric_name(c, !i), c->lane[i]);
	}
}
