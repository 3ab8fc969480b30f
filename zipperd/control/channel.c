/* SPDX-License-Identifier: BSD-3-Clause */
/* Data channels: from ATTACH until both workers have given their half back, see channel.h. */
#include "zipperd/control/channel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipperd/control/circuit_parts.h"
#include "zipperd/control/crew.h"
#include "zipperd/control/dial.h"
#include "zipperd/control/job.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"
#include "zipperd/control/capacity.h"

static struct lane *make_lane(struct job *j, uint32_t from, uint32_t to, struct worker *w)
{
	const struct settings *c = &j->daemon->settings;
	struct lane *l = lane_create(j->endpoints * j->part[to].size, j->nparts);
	if (!l)
		return NULL;
	l->job = j->number;
	l->from = from;
	l->to = to;
	l->nstations = j->endpoints * j->total;
	l->carried = 0;
	for (uint32_t p = 0; p < j->nparts; p++)
		l->carried |= (uint64_t)job_carries(j, from, p) << p;
	l->place = j->place;
	l->station_of = j->part[to].station_of;
	l->limits = (struct lane_limits){.eager_bytes = (uint32_t)c->eager_bytes,
		.frag_bytes = settings_fragment(c),
		.dest_share = (uint64_t)c->dest_share,
		.rdv_window = j->rdv_window};
	l->worker = w;
	l->owner = j;
	return l;
}

static void hand_over(struct job *j, struct lane *l)
{
	struct daemon *d = j->daemon;
	j->lane[l->from * j->nparts + l->to] = l;
	j->nlanes++;
	crew_send(d, l->worker, &(struct command){.kind = CMD_ADD_LANE, .lane = l});
	for (uint32_t i = 0; i < l->ndests; i++)
		if (job_rank_of(j, l->station_of[i])->done)
			crew_send(d, l->worker, &(struct command){.kind = CMD_DEST_BYE, .lane = l, .dest = i});
}

static bool add_relay(struct job *j, struct lane *l, struct lane *other)
{
	struct relay *r = crew_relay(j->daemon, l->worker, other->worker);
	if (r)
		crew_send(j->daemon, l->worker,
			&(struct command){.kind = CMD_ADD_RELAY, .lane = l, .part = other->to, .relay = r});
	return r;
}

/* A source of the one lane has receivers in the other, which may be the same worker's. The way back first: what it
 * hands over may have to be answered. */
static bool join_lanes(struct job *j, struct lane *l, struct lane *other)
{
	return add_relay(j, other, l) && add_relay(j, l, other);
}

/* With those from the same part that have waited for it. */
static bool join_siblings(struct job *j, struct lane *l)
{
	bool all = true;
	for (uint32_t to = 0; to < j->nparts; to++) {
		struct lane *other = j->lane[l->from * j->nparts + to];
		if (other && other->wanted >> l->to & 1)
			all &= join_lanes(j, other, l);
	}
	return all;
}

/* Both lanes between two parts, from the first channel on. */
static int ensure_lanes(struct job *j, uint32_t a, uint32_t b, struct zerr *err)
{
	if (j->lane[a * j->nparts + b])
		return 0;
	struct worker *ab = crew_worker(j->daemon, j->part[a].fabric, j->part[b].fabric, err);
	if (!ab)
		return -EAGAIN;
	struct lane *lab = make_lane(j, a, b, ab), *lba = make_lane(j, b, a, ab->opposite);
	if (!lab || !lba) {
		lane_destroy(lab);
		lane_destroy(lba);
		return zerr_set(err, -ENOMEM, "out of memory");
	}
	hand_over(j, lab);
	hand_over(j, lba);
	/* Without, senders would wait in vain: better no channel, which ends the job. */
	return join_siblings(j, lab) && join_siblings(j, lba) ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

bool channel_same_token(const uint8_t *a, const uint8_t *b)
{
	uint8_t diff = 0;
	for (int i = 0; i < ZCTL_TOKEN_BYTES; i++)
		diff |= a[i] ^ b[i];
	return diff == 0;
}

/* The token says it all; the job's name only finds it faster. */
static struct job *find_job(struct daemon *d, const char *id, const uint8_t *token)
{
	for (struct list *node = d->all_jobs.next; node != &d->all_jobs; node = node->next) {
		struct job *j = list_entry(node, struct job, link);
		if (j->state == JOB_RUNNING && strcmp(j->id, id) == 0 && channel_same_token(j->token, token))
			return j;
	}
	return NULL;
}

static struct channel *find_channel(const struct rank *r, uint32_t to, uint32_t endpoint)
{
	for (const struct list *node = r->channels.next; node != &r->channels; node = node->next) {
		struct channel *c = list_entry(node, struct channel, of_rank);
		if (c->to == to && c->endpoint == endpoint && !c->dropping)
			return c;
	}
	return NULL;
}

static struct rank *check(struct daemon *d, struct peer *p, const struct zctl_attach *a)
{
	struct job *j = find_job(d, p->hello.job, a->token);
	if (!j) {
		peer_refuse(p, EACCES, "no job of that name and token runs here");
		return NULL;
	}
	if (a->vrank >= j->total || a->part >= j->nparts || a->part == j->by_vrank[a->vrank]->part) {
		peer_refuse(p, EINVAL, "rank %u cannot have a channel to part %u", a->vrank, a->part);
		return NULL;
	}
	if (!job_carries(j, a->part, j->by_vrank[a->vrank]->part)) {
		peer_refuse(p, EINVAL, "rank %u cannot have a channel to part %s here: both come by fabric %s",
			a->vrank, j->part[a->part].name, d->settings.fabric[j->part[a->part].fabric]);
		return NULL;
	}
	if (a->endpoint >= j->endpoints) {
		peer_refuse(p, EINVAL, "rank %u has no endpoint %u: it said that it has %u of them", a->vrank,
			a->endpoint, j->endpoints);
		return NULL;
	}
	struct rank *r = j->by_vrank[a->vrank];
	if (!listener_serves(p->listener, j->part[r->part].fabric)) {
		peer_refuse(p, EINVAL, "%.80s does not serve fabric %s", p->listener->text,
			d->settings.fabric[j->part[r->part].fabric]);
		return NULL;
	}
	if (r->done || find_channel(r, a->part, a->endpoint)) {
		peer_refuse(p, EEXIST, "rank %u %s", a->vrank,
			r->done ? "has left" : "has a channel to that part already");
		return NULL;
	}
	return r;
}

int channel_settle(struct zlink *z, struct worker *rx, struct worker *tx, struct zerr *err)
{
	const struct ztransport *t = z->ops;
	if (!t->settle)
		return 0;
	struct zendpoint *erx = worker_pair_endpoint(rx, t, err), *etx = erx ? worker_pair_endpoint(tx, t, err) : NULL;
	if (!etx)
		return -ENOMEM;
	return t->settle_begin ? t->settle_begin(z, erx, etx, err) : t->settle(z, erx, etx, err);
}

static struct daemon *daemon_of(const struct channel *c)
{
	return c->circuit ? c->circuit->daemon : c->rank->job->daemon;
}

static void lend_tx(struct channel *c)
{
	struct lane *in = c->tx.lane;
	c->lent = true;
	crew_send(daemon_of(c), in->worker,
		&(struct command){.kind = CMD_ADD_TX, .tx = &c->tx, .lane = in, .dest = c->dest});
}

static void lend_source(struct channel *c)
{
	crew_send(daemon_of(c), c->source.lane->worker,
		&(struct command){.kind = CMD_ADD_SOURCE, .source = &c->source});
}

/* The way to the rank first: what it causes may have to be answered. Of a circuit both ways: there nothing waits for an
 * end that is not there. */
static void hand_halves_over(struct channel *c)
{
	struct channel *other = c->circuit ? c->circuit->end[c == c->circuit->end[0]] : NULL;
	c->ready = true;
	if (other && !other->ready)
		return;
	lend_tx(c);
	if (other)
		lend_tx(other);
	lend_source(c);
	if (other)
		lend_source(other);
}

/* Without it the job cannot go on, and all are to know why. */
static void end_without(struct rank *r, const struct zerr *err)
{
	char who[160], text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "no data connection for %s: %.200s", rank_describe(r, who, sizeof(who)),
		err->text);
	job_end(r->job, 1, text);
}

static void settled(void *owner, struct zlink *z, const struct zerr *why)
{
	struct channel *c = owner;
	struct zerr err = *why;
	const int rc = z->ops->settle_end(z, &err);
	c->settling = NULL;
	if (rc >= 0 && !c->dropping) {
		hand_halves_over(c);
		return;
	}
	if (!c->dropping && c->circuit)
		circuit_break(c->circuit, &err);
	else if (!c->dropping)
		end_without(c->rank, &err);
	channel_close(c);
}

void channel_stop_settling(struct channel *c)
{
	if (c->settling && dial_take_back(c->settling))
		settled(c, c->zlink, &(struct zerr){.text = ""});
}

void channel_begin(struct channel *c, const char *user)
{
	struct zerr err = {.text = ""};
	if (c->dropping)
		channel_close(c);
	else if (!c->waits)
		hand_halves_over(c);
	else if (dial_settle(&c->settling, daemon_of(c), c->zlink, user, settled, c, &err) != 0)
		settled(c, c->zlink, &err);
}

void channel_attach(struct daemon *d, struct peer *p, const struct zctl_attach *a)
{
	char user[ZCTL_NAME_MAX + 1];
	struct zerr err = {.text = ""};
	struct rank *r = check(d, p, a);
	if (!r)
		return;
	if (capacity_lacks(p, &err)) {
		peer_refuse(p, ENOMEM, "%s", err.text);
		end_without(r, &err);
		return;
	}
	struct job *j = r->job;
	struct channel *c = aligned_alloc(alignof(struct channel), sizeof(*c));
	if (!c || ensure_lanes(j, r->part, a->part, &err) != 0) {
		free(c);
		zlog(ZLOG_ERROR, "%s", err.text[0] ? err.text : "out of memory");
		peer_refuse(p, ENOMEM, "%s", err.text[0] ? err.text : "out of memory");
		return;
	}
	memset(c, 0, sizeof(*c));
	c->rank = r;
	c->to = a->part;
	c->endpoint = a->endpoint;
	struct lane *out = j->lane[r->part * j->nparts + c->to];
	struct lane *in = j->lane[c->to * j->nparts + r->part];
	const int rc = channel_settle(p->zlink, out->worker, in->worker, &err);
	if (rc < 0) {
		free(c);
		peer_refuse(p, ENOMEM, "%s", err.text);
		end_without(r, &err);
		return;
	}
	c->waits = rc == ZSETTLE_WAITS;
	if (p->listener && p->zlink->ops->kind == ZADDR_VERBS)
		snprintf(c->over, sizeof(c->over), "%.*s", (int)strcspn(p->listener->text, "@"), p->listener->text);
	c->zlink = peer_release(p);
	c->halves = 2;
	list_add(&r->channels, &c->of_rank);
	j->nchannels++;
	c->source.zlink = c->tx.zlink = c->zlink;
	c->source.channel = c->tx.channel = c;
	c->source.lane = out;
	c->tx.lane = in;
	c->source.station = c->endpoint * j->total + r->vrank;
	c->dest = job_dest_of(r, c->endpoint);
	snprintf(user, sizeof(user), "%.*s", (int)strcspn(j->key, "/"), j->key);
	channel_begin(c, user);
}

void channel_drop(struct channel *c)
{
	struct job *j = c->rank->job;
	if (c->dropping)
		return;
	c->dropping = true;
	if (!c->lent) { /* it is closed when it is settled, unless that has not begun */
		channel_stop_settling(c);
		return;
	}
	crew_send(j->daemon, j->lane[c->rank->part * j->nparts + c->to]->worker,
		&(struct command){.kind = CMD_DROP_SOURCE, .source = &c->source});
	crew_send(j->daemon, j->lane[c->to * j->nparts + c->rank->part]->worker,
		&(struct command){.kind = CMD_DROP_TX, .tx = &c->tx});
}

/* What a rank has not acknowledged is waited for, but not by this thread, which all users share. */
static bool is_on_its_way(struct channel *c)
{
	return c->zlink->ops->drain && c->zlink->ops->drain(c->zlink) == -EAGAIN;
}

static void close_channel(struct channel *c)
{
	c->zlink->ops->close(c->zlink);
	if (c->circuit) {
		circuit_closed(c);
		return;
	}
	struct job *j = c->rank->job;
	list_del(&c->of_rank);
	j->daemon->nconnections--;
	j->nchannels--;
	free(c);
	job_free_if_unused(j);
}

void channel_close(struct channel *c)
{
	if (is_on_its_way(c))
		list_add(&daemon_of(c)->draining, &c->draining);
	else
		close_channel(c);
}

static void half_gone(struct channel *c)
{
	if (--c->halves == 0)
		channel_close(c);
}

void channels_drain(struct daemon *d)
{
	struct list *node, *after;
	if (d->now_ms < d->drain_ms)
		return;
	d->drain_ms = d->now_ms + CHANNEL_DRAIN_MS;
	list_for_each(node, after, &d->draining) {
		struct channel *c = list_entry(node, struct channel, draining);
		if (is_on_its_way(c))
			continue;
		list_del(&c->draining);
		close_channel(c);
	}
}

static void end_for_breach(struct rank *r, const char *what)
{
	char who[160], text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "%s broke the protocol: %s", rank_describe(r, who, sizeof(who)), what);
	job_end(r->job, 1, text); /* drops the channel, too */
}

static void breach_elsewhere(const struct event *e)
{
	struct job *j = e->lane->owner;
	if (j->state == JOB_RUNNING)
		end_for_breach(job_rank_of(j, e->station), e->breach);
}

static void half_lost(struct channel *c, const struct event *e)
{
	struct rank *r = c->rank;
	char text[ZCTL_TEXT_MAX + 1];
	if (e->breach && r->job->state == JOB_RUNNING) {
		end_for_breach(r, e->breach);
		return;
	}
	if (!c->bye && e->rc != -ESHUTDOWN)
		snprintf(text, sizeof(text), "its data connection%s%s broke: %s", c->over[0] ? " over " : "", c->over,
			strerror(-e->rc));
	else
		snprintf(text, sizeof(text), "its data connection was closed");
	if (!c->bye)
		job_suspect(r, text);
	channel_drop(c);
}

/* The rank's endpoint takes nothing from that part any more. */
static void said_bye(struct daemon *d, struct channel *c)
{
	struct job *j = c->rank->job;
	if (c->bye || j->state != JOB_RUNNING)
		return;
	c->bye = true;
	struct lane *in = j->lane[c->to * j->nparts + c->rank->part];
	crew_send(d, in->worker,
		&(struct command){.kind = CMD_DEST_BYE, .lane = in, .dest = job_dest_of(c->rank, c->endpoint)});
}

/* A message waits for a rank's endpoint that has no channel for it. */
static void ask_open(struct daemon *d, const struct event *e)
{
	struct job *j = e->lane->owner;
	(void)d;
	if (j->state != JOB_RUNNING)
		return;
	uint32_t station = e->lane->station_of[e->dest], endpoint = station / j->total;
	struct rank *r = job_rank_of(j, station);
	if (r->done || !r->peer || find_channel(r, e->lane->from, endpoint))
		return;
	struct zctl_msg msg = {.type = ZCTL_OPEN};
	msg.u.open.part = e->lane->from;
	msg.u.open.endpoint = endpoint;
	peer_send(r->peer, &msg);
}

/* Something in the lane is for another part as well. Where nobody has a channel there yet, one is about to come. */
static void want_relay(struct lane *l, uint32_t part)
{
	struct job *j = l->owner;
	if (j->state != JOB_RUNNING)
		return;
	struct lane *other = j->lane[l->from * j->nparts + part];
	l->wanted |= UINT64_C(1) << part;
	if (other && !join_lanes(j, l, other)) /* its sender would wait in vain */
		job_end(j, 1, "out of memory");
}

void channel_event(struct daemon *d, const struct event *e)
{
	if (e->kind != EVENT_HALF_GONE && (e->channel ? e->channel->circuit != NULL : e->lane->circuit)) {
		circuit_event(e);
		return;
	}
	switch (e->kind) {
	case EVENT_OPEN:
		ask_open(d, e);
		break;
	case EVENT_BYE:
		said_bye(d, e->channel);
		break;
	case EVENT_HALF_LOST:
		half_lost(e->channel, e);
		break;
	case EVENT_BREACH:
		breach_elsewhere(e);
		break;
	case EVENT_RELAY:
		want_relay(e->lane, e->part);
		break;
	case EVENT_HALF_GONE:
		half_gone(e->channel);
		break;
	case EVENT_LANE_GONE: {
		struct job *j = e->lane->owner;
		j->nlanes--; /* its counters are kept until the job is freed */
		job_free_if_unused(j);
		break;
	}
	}
}
