/* SPDX-License-Identifier: BSD-3-Clause */
/* Circuits from the first peer's MEET until both connections have been closed, see circuit.h. */
#include "zipperd/control/circuit_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipperd/control/crew.h"
#include "zipperd/control/hop.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"

#define LAST_WORDS_MS 2000 /* without any: an end that takes nothing more has none, or they find no room */

static const char *fabric_name(const struct circuit *c, int end)
{
	return c->daemon->settings.fabric[c->fabric[end]];
}

static bool is_timed(const struct circuit *c)
{
	return c->last && !c->over;
}

void circuit_destroy(struct circuit *c)
{
	c->daemon->ncircuits_timed -= is_timed(c);
	list_del(&c->link);
	for (int i = 0; i < 2; i++) {
		lane_destroy(c->lane[i]);
		free(c->end[i]);
	}
	free(c);
}

/* --- the first one --- */

static struct circuit *find_waiting(const struct daemon *d, const struct peer *p, const struct zctl_meet *m, int from,
	int to)
{
	for (const struct list *node = d->circuits.next; node != &d->circuits; node = node->next) {
		struct circuit *c = list_entry(node, struct circuit, link);
		if (c->waiting && !c->hop && c->fabric[0] == to && c->fabric[1] == from &&
			strcmp(c->name, m->name) == 0 && strcmp(c->job, p->hello.job) == 0 &&
			strcmp(c->user, p->hello.user) == 0)
			return c;
	}
	return NULL;
}

struct circuit *circuit_create(struct daemon *d, struct peer *p, int from, int to, const char *name)
{
	struct circuit *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->daemon = d;
	c->fabric[0] = from;
	c->fabric[1] = to;
	memcpy(c->user, p->hello.user, sizeof(c->user));
	memcpy(c->job, p->hello.job, sizeof(c->job));
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->waiting = p;
	list_add(&d->circuits, &c->link);
	p->circuit = c;
	peer_settle(p);
	return c;
}

void circuit_forget(struct circuit *c)
{
	c->waiting->circuit = NULL;
	hop_forget(c);
	circuit_destroy(c);
}

/* --- both --- */

static struct channel *make_end(struct circuit *c)
{
	struct channel *e = aligned_alloc(alignof(struct channel), sizeof(*e));
	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	e->circuit = c;
	e->halves = 2;
	return e;
}

static struct lane *make_lane(struct circuit *c, struct worker *w)
{
	const struct settings *s = &c->daemon->settings;
	struct lane *l = lane_create_circuit();
	if (!l)
		return NULL;
	l->limits.dest_share = (uint64_t)s->dest_share;
	l->worker = w;
	l->owner = c;
	return l;
}

int circuit_make_parts(struct circuit *c, struct zerr *err)
{
	struct worker *w = crew_worker(c->daemon, c->fabric[0], c->fabric[1], err);
	if (!w)
		return -EAGAIN;
	c->lane[0] = make_lane(c, w);
	c->lane[1] = make_lane(c, w->opposite);
	for (int i = 0; i < 2; i++)
		c->end[i] = make_end(c);
	return c->lane[0] && c->lane[1] && c->end[0] && c->end[1] ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

int circuit_greet(struct circuit *c, int end, struct peer *p, const struct zctl_msg *msg, struct zerr *err)
{
	peer_send(p, msg);
	if (p->state != PEER_READY || p->head)
		return zerr_set(err, -EPIPE, "its connection has no room");
	const int rc = channel_settle(p->zlink, c->lane[end]->worker, c->lane[!end]->worker, err);
	c->end[end]->waits = rc == ZSETTLE_WAITS;
	return rc < 0 ? rc : 0;
}

void circuit_begin(struct circuit *c, struct zlink *first, struct zlink *second)
{
	struct zlink *link[2] = {first, second};
	for (int i = 0; i < 2; i++) {
		struct channel *e = c->end[i];
		e->zlink = e->source.zlink = e->tx.zlink = link[i];
		e->source.channel = e->tx.channel = e;
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

static void refuse_both(struct circuit *c, struct peer *first, struct peer *second, const struct zerr *err)
{
	zlog(ZLOG_ERROR, "circuit %s/%s/%s: %s", c->user, c->job, c->name, err->text);
	peer_refuse(first, ENOMEM, "%s", err->text);
	peer_refuse(second, ENOMEM, "%s", err->text);
	circuit_destroy(c);
}

static void connect_ends(struct circuit *c, struct peer *second)
{
	struct peer *peer[2] = {c->waiting, second};
	struct zerr err = {.text = ""};
	c->waiting->circuit = NULL;
	c->waiting = NULL;
	int rc = circuit_make_parts(c, &err);
	/* They hear MET before anything of each other. */
	for (int i = 0; i < 2 && rc >= 0; i++)
		rc = circuit_greet(c, i, peer[i], &(struct zctl_msg){.type = ZCTL_MET}, &err);
	if (rc < 0) {
		refuse_both(c, peer[0], peer[1], &err);
		return;
	}
	struct zlink *first = peer_release(peer[0]), *other = peer_release(peer[1]);
	circuit_begin(c, first, other);
}

void circuit_meet(struct daemon *d, struct peer *p, const struct zctl_meet *m)
{
	int from = settings_find_fabric(&d->settings, m->from), to = settings_find_fabric(&d->settings, m->to);
	if (d->stopping) {
		peer_refuse(p, ESHUTDOWN, "zipperd is shutting down");
	} else if (from < 0 || to < 0) {
		peer_refuse(p, ENOENT, "this zipperd serves no fabric '%s'", from < 0 ? m->from : m->to);
	} else if (!listener_serves(p->listener, from)) {
		peer_refuse(p, EINVAL, "%.80s does not serve fabric %s", p->listener->text, m->from);
	} else {
		struct circuit *c = find_waiting(d, p, m, from, to);
		if (c)
			connect_ends(c, p);
		else if (!circuit_create(d, p, from, to, m->name))
			peer_refuse(p, ENOMEM, "out of memory");
	}
}

/* --- the end --- */

static void log_end(const struct circuit *c)
{
	const struct lane_stats *there = &c->lane[0]->stats, *back = &c->lane[1]->stats;
	/* Of hops there is one for each rank and channel. */
	zlog(c->hop ? ZLOG_DEBUG : ZLOG_INFO,
		"circuit %s/%s/%s: over; %s>%s %" PRIu64 " bytes, %s>%s %" PRIu64 " bytes", c->user, c->job, c->name,
		fabric_name(c, 0), fabric_name(c, 1), atomic_load(&there->bytes), fabric_name(c, 1), fabric_name(c, 0),
		atomic_load(&back->bytes));
}

/* Nothing more is taken from either; what was taken goes out. */
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
		/* One that is not lent yet is closed when it is settled, or below. */
		if (from->lent)
			crew_send(c->daemon, w, &(struct command){.kind = CMD_DROP_SOURCE, .source = &from->source});
		if (to->lent)
			crew_send(c->daemon, w, &(struct command){.kind = CMD_FINISH_TX, .tx = &to->tx});
		crew_send(c->daemon, w, &(struct command){.kind = CMD_DROP_LANE, .lane = c->lane[i]});
	}
	for (int i = 0; i < 2; i++) {
		struct channel *e = c->end[i];
		if (e->ready && !e->lent) /* it has waited for the other one */
			channel_close(e);
		else if (!e->lent)
			channel_stop_settling(e);
	}
}

void circuit_break(struct circuit *c, const struct zerr *err)
{
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

void circuit_closed(struct channel *e)
{
	struct circuit *c = e->circuit;
	c->daemon->nconnections--;
	c->end[e == c->end[1]] = NULL;
	free(e);
	free_if_unused(c);
}

static uint64_t count_words(const struct lane *l)
{
	return atomic_load_explicit(&l->stats.envelopes, memory_order_relaxed);
}

/* Who does not take what it is sent has closed, mostly; what it has sent before may be on its way here, or wait for
 * room there. Its end tells when that was all, but need not come where only the one half has broken. */
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

bool circuits_timed(const struct daemon *d)
{
	return d->ncircuits_timed > 0;
}

void circuits_expire(struct daemon *d)
{
	struct list *node, *after;
	if (!circuits_timed(d)) /* of thousands */
		return;
	list_for_each(node, after, &d->circuits) {
		struct circuit *c = list_entry(node, struct circuit, link);
		if (!is_timed(c))
			continue;
		const uint64_t said = count_words(c->last);
		if (said != c->said)
			c->until_ms = d->now_ms + LAST_WORDS_MS;
		else if (c->until_ms <= d->now_ms)
			end(c);
		c->said = said;
	}
}

void circuits_end_all(struct daemon *d)
{
	struct list *node, *after;
	list_for_each(node, after, &d->circuits) {
		struct circuit *c = list_entry(node, struct circuit, link);
		struct peer *p = c->waiting;
		if (!p) {
			end(c);
			continue;
		}
		circuit_forget(c);
		peer_refuse(p, ESHUTDOWN, "zipperd is shutting down");
	}
}

void circuits_count(const struct daemon *d, const char *user, const char *job,
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
