/* SPDX-License-Identifier: BSD-3-Clause */
/* Trunks, see trunk.h. */
#include "zipperd/trunk/trunk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/dial.h"
#include "zipperd/conn/quota.h"
#include "zipperd/trunk/trunk_stream.h"

/* The time without a sending half until the receiving half is lost, too. */
#define LAST_WORDS_MS 2000

static void failed(struct channel *, const struct zerr *why);
static void lent(struct channel *);
static void closed(struct channel *);
static const struct channel_owner trunk_owner = {.failed = failed, .lent = lent, .closed = closed};

static void idle(struct trunk *);

struct trunk *trunk_create(struct daemon *d, const char *user, const char *job)
{
	struct trunk *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->daemon = d;
	t->idle = idle;
	t->account = quota_user(d->quotas, user);
	snprintf(t->user, sizeof(t->user), "%s", user);
	snprintf(t->job, sizeof(t->job), "%s", job);
	t->rx.number = t->tx.number = ++d->last_trunk;
	list_init(&t->waiting);
	list_add(&d->trunks, &t->link);
	d->ntrunks++;
	return t;
}

void trunk_free(struct trunk *t)
{
	list_del(&t->link);
	list_del(&t->losing);
	list_del(&t->quiet);
	t->daemon->ntrunks--;
	lane_destroy(t->lane[0]);
	lane_destroy(t->lane[1]);
	free(t);
}

static void free_if_unused(struct trunk *t)
{
	if (!t->channel && t->nlanes == 0 && !t->dial)
		trunk_free(t);
}

static struct lane *make_lane(struct trunk *t, struct worker *w)
{
	struct lane *l = lane_create_circuit();
	if (!l)
		return NULL;
	l->trunk = true;
	l->owner = t;
	l->worker = w; /* its bytes are counted where its streams go */
	l->deficit.weight = quota_weight(t->account);
	return l;
}

int trunk_connect(struct trunk *t, struct zlink *z, struct worker *in, struct worker *out, struct zerr *err)
{
	struct channel *c = channel_create(t->daemon, &trunk_owner);
	t->lane[0] = make_lane(t, in);
	t->lane[1] = make_lane(t, out);
	int rc = c && t->lane[0] && t->lane[1] ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = channel_settle(z, in, out, err);
	if (rc < 0) {
		free(c);
		return rc;
	}
	c->waits = rc == ZSETTLE_WAITS;
	c->trunk = t;
	c->user = t->account;
	c->zlink = c->source.zlink = c->tx.zlink = z;
	c->source.channel = c->tx.channel = t->rx.channel = t->tx.channel = t->channel = c;
	c->source.lane = t->lane[0];
	c->tx.lane = t->lane[1];
	c->source.trunk = &t->rx;
	c->tx.trunk = &t->tx;
	t->rx.worker = in;
	t->tx.worker = out;
	t->tx.carrier = z;
	t->rx.accepts = !t->opens;
	crew_send(t->daemon, in, &(struct command){.kind = CMD_ADD_LANE, .lane = t->lane[0]});
	crew_send(t->daemon, out, &(struct command){.kind = CMD_ADD_LANE, .lane = t->lane[1]});
	t->nlanes = 2;
	channel_begin(c, t->user);
	return 0;
}

/* The last of its streams has gone. */
static void drop(struct trunk *t)
{
	struct daemon *d = t->daemon;
	if (!t->channel || t->channel->dropping)
		return;
	channel_drop(t->channel);
	crew_send(d, t->rx.worker, &(struct command){.kind = CMD_DROP_LANE, .lane = t->lane[0]});
	crew_send(d, t->tx.worker, &(struct command){.kind = CMD_DROP_LANE, .lane = t->lane[1]});
}

void trunk_end(struct trunk *t)
{
	t->over = true;
	list_del(&t->link);
	list_del(&t->quiet);
	if (!t->members)
		drop(t);
}

static void idle(struct trunk *t)
{
	if (!list_empty(&t->waiting))
		return;
	if (t->over)
		drop(t);
	else if (t->opens)
		trunk_end(t);
	else
		trunk_rest(t);
}

void trunk_rest(struct trunk *t)
{
	struct daemon *d = t->daemon;
	t->quiet_ms = d->now_ms + d->settings.hello_timeout_ms;
	list_add(&d->quiet, &t->quiet);
}

static void failed(struct channel *c, const struct zerr *why)
{
	zlog(ZLOG_WARN, "job %s/%s: a trunk: %s", c->trunk->user, c->trunk->job, why->text);
	list_del(&c->trunk->link);
	if (c->trunk->answer)
		c->trunk->answer(c->trunk, -EIO, why);
	trunk_end(c->trunk);
}

static void lent(struct channel *c)
{
	if (c->trunk->answer)
		c->trunk->answer(c->trunk, 0, &(struct zerr){.text = ""});
}

static void closed(struct channel *c)
{
	struct trunk *t = c->trunk;
	t->channel = NULL;
	free(c);
	free_if_unused(t);
}

static void log_loss(const struct trunk *t, const struct event *e)
{
	if (e->rc != -ESHUTDOWN || t->members)
		zlog(e->breach ? ZLOG_WARN : ZLOG_DEBUG, "job %s/%s: the trunk with %s: %s", t->user, t->job,
			t->channel->zlink->peer, e->breach ? e->breach : zlink_why(e->rc));
}

static void lose(struct trunk *t, const struct event *e)
{
	if (e->half == ZLINK_TX) {  /* the other side's last messages may still be on their way here */
		list_del(&t->link); /* later hops ask for another one */
		if (e->breach)
			log_loss(t, e);
		t->lost_ms = t->daemon->now_ms + (e->breach ? 0 : LAST_WORDS_MS);
		if (!list_linked(&t->losing))
			list_add(&t->daemon->losing, &t->losing);
		return;
	}
	list_del(&t->losing);
	if (t->over)
		return;
	log_loss(t, e);
	trunk_stream_end_all(t);
	trunk_end(t);
}

/* The other side wants no more streams. */
static void leave(struct trunk *t)
{
	list_del(&t->link); /* later hops ask for another one */
	if (!t->members)
		trunk_end(t);
}

void trunk_event(const struct event *e)
{
	struct trunk *t = e->channel ? e->channel->trunk : e->lane->owner;
	if (e->kind == EVENT_STREAM && e->dest == 0) {
		leave(t);
	} else if (e->kind == EVENT_STREAM) {
		trunk_stream_hear(t, e);
	} else if (e->kind == EVENT_HALF_LOST) {
		lose(t, e);
	} else if (e->kind == EVENT_LANE_GONE) {
		t->nlanes--;
		free_if_unused(t);
	}
}

bool trunk_any_timed(const struct daemon *d)
{
	return !list_empty(&d->losing) || !list_empty(&d->quiet);
}

/* First the other side hears that it is to begin no more streams. One may be on its way, or answer to that. */
static void expire(struct trunk *t)
{
	if (t->leaving) {
		zlog(ZLOG_DEBUG, "job %s/%s: the trunk with %s has no streams: closed", t->user, t->job,
			t->channel->zlink->peer);
		trunk_end(t);
		return;
	}
	t->leaving = true;
	list_del(&t->quiet);
	trunk_stream_leave(t);
	trunk_rest(t);
}

void trunk_expire_all(struct daemon *d)
{
	struct list *node, *after;
	list_for_each(node, after, &d->quiet) {
		struct trunk *t = list_entry(node, struct trunk, quiet);
		if (t->quiet_ms <= d->now_ms)
			expire(t);
	}
	list_for_each(node, after, &d->losing) {
		struct trunk *t = list_entry(node, struct trunk, losing);
		if (t->lost_ms > d->now_ms)
			continue;
		list_del(&t->losing);
		if (t->channel && !t->channel->dropping)
			crew_send(d, t->rx.worker,
				&(struct command){.kind = CMD_TRUNK_LOST, .source = &t->channel->source});
	}
}

void trunk_end_all(struct daemon *d)
{
	struct list *node, *after;
	list_for_each(node, after, &d->trunks) {
		struct trunk *t = list_entry(node, struct trunk, link);
		if (t->dial) { /* nobody waits for it any more */
			dial_drop(t->dial);
			d->nconnections--;
			quota_give(t->account, QUOTA_CONNECTIONS);
			trunk_free(t);
		} else {
			trunk_end(t);
		}
	}
}
