/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels of ranks, see attach.h. */
#include "zipperd/job/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/channel.h"
#include "zipperd/conn/listener.h"
#include "zipperd/conn/protect.h"
#include "zipperd/conn/quota.h"
#include "zipperd/job/job_lanes.h"
#include "zipperd/trunk/trunk_stream.h"

/* The rank that has made the ticket, in a running job. */
static struct rank *find_rank(struct daemon *d, const struct zctl_hello *hello, const struct zctl_attach *a)
{
	uint8_t ticket[ZCTL_MAC_BYTES];
	const struct job *j = job_find(d, hello->user, hello->job);
	if (!j || j->state != JOB_RUNNING || a->vrank >= j->total)
		return NULL;
	struct rank *r = j->by_vrank[a->vrank];
	zauth_module.ticket(ticket, r->key, ZAUTH_CHANNEL, a);
	return zauth_module.same(ticket, a->ticket) ? r : NULL;
}

static void failed(struct channel *c, const struct zerr *why)
{
	rank_unconnected(c->rank, why);
}

static void closed(struct channel *c)
{
	struct job *j = c->rank->job;
	list_del(&c->of_rank);
	j->nchannels--;
	free(c);
	job_free_if_unused(j);
}

static const struct channel_owner rank_owner = {.failed = failed, .closed = closed};

/* The rank that the channel is for. NULL: the connection has been refused. */
static struct rank *check(struct daemon *d, struct conn *conn, const struct zctl_attach *a)
{
	struct rank *r = find_rank(d, &conn->hello, a);
	if (!r) {
		conn_refuse(conn, EACCES, "no job of that name with a rank of that ticket runs here");
		return NULL;
	}
	const struct job *j = r->job;
	if (a->part >= j->nparts || a->part == r->part) {
		conn_refuse(conn, EINVAL, "rank %u cannot have a channel to part %u", a->vrank, a->part);
		return NULL;
	}
	if (!job_carries(j, a->part, r->part)) {
		conn_refuse(conn, EINVAL, "rank %u cannot have a channel to part %s here: both come by fabric %s",
			a->vrank, j->part[a->part].name, d->settings.fabric[j->part[a->part].fabric]);
		return NULL;
	}
	if (a->track >= j->tracks) {
		conn_refuse(conn, EINVAL, "rank %u has no track %u: its job has %u of them here", a->vrank, a->track,
			j->tracks);
		return NULL;
	}
	if (a->endpoint >= j->endpoints) {
		conn_refuse(conn, EINVAL, "rank %u has no endpoint %u: it said that it has %u of them", a->vrank,
			a->endpoint, j->endpoints);
		return NULL;
	}
	if (!listener_serves(conn->listener, j->part[r->part].fabric)) {
		conn_refuse(conn, EINVAL, "%.80s does not serve fabric %s", conn->listener->text,
			d->settings.fabric[j->part[r->part].fabric]);
		return NULL;
	}
	/* A ticket is good once: what was overheard must not open a channel again when the first one has gone. */
	const bool had = *job_opened(j, a->track, a->endpoint, a->vrank) >> a->part & 1;
	if (r->done || had) {
		conn_refuse(conn, EEXIST, "rank %u %s", a->vrank,
			r->done ? "has left" : "has, or had, a channel to that part already");
		return NULL;
	}
	return r;
}

void attach_channel(struct daemon *d, struct conn *conn, const struct zctl_attach *a)
{
	char user[ZCTL_NAME_MAX + 1];
	struct zerr err = {.text = ""};
	struct rank *r = check(d, conn, a);
	uint8_t level;
	if (!r || !protect_accept(conn, a->seal, &level))
		return;
	if (capacity_lacks(conn, &err)) {
		conn_refuse(conn, ENOMEM, "%s", err.text);
		rank_unconnected(r, &err);
		return;
	}
	struct job *j = r->job;
	if (!conn->inner && quota_take_promised(j->user, d->now_ms, &err) != 0) {
		conn_refuse(conn, EDQUOT, "%s", err.text);
		rank_unconnected(r, &err);
		return;
	}
	conn->user = j->user;
	if (!protect_begin(conn, level, r->key, a->ticket)) {
		zerr_set(&err, -ENOMEM, "its data channel cannot be sealed");
		rank_unconnected(r, &err);
		return;
	}
	struct channel *c = channel_create(d, &rank_owner);
	if (!c || job_lanes_ensure(j, a->track, r->part, a->part, &err) != 0) {
		free(c);
		if (!err.text[0])
			zerr_set(&err, -ENOMEM, "out of memory");
		zlog(ZLOG_ERROR, "%s", err.text);
		conn_refuse(conn, ENOMEM, "%s", err.text);
		rank_unconnected(r, &err);
		return;
	}
	c->rank = r;
	c->to = a->part;
	c->endpoint = a->endpoint;
	c->track = a->track;
	struct lane *out = *job_lane(j, c->track, r->part, c->to);
	struct lane *in = *job_lane(j, c->track, c->to, r->part);
	if (conn->inner && (trunk_stream_worker(conn->zlink) != out->worker || !trunk_stream_lend(conn->zlink))) {
		free(c);
		conn_refuse(conn, EINVAL, "a trunk for other channels");
		return;
	}
	const int rc = channel_settle(conn->zlink, out->worker, in->worker, &err);
	if (rc < 0) {
		free(c);
		conn_refuse(conn, ENOMEM, "%s", err.text);
		rank_unconnected(r, &err);
		return;
	}
	c->waits = rc == ZSETTLE_WAITS;
	if (conn->listener && zaddr_traits(&conn->listener->where.addr)->by_device)
		snprintf(c->over, sizeof(c->over), "%.*s", (int)strcspn(conn->listener->text, "@"),
			conn->listener->text);
	c->inner = conn->inner;
	c->zlink = conn_release(conn);
	c->user = j->user;
	list_add(&r->channels, &c->of_rank);
	*job_opened(j, c->track, c->endpoint, r->vrank) |= UINT64_C(1) << a->part;
	j->nchannels++;
	c->source.zlink = c->tx.zlink = c->zlink;
	c->source.channel = c->tx.channel = c;
	c->source.lane = out;
	c->tx.lane = in;
	c->source.station = c->endpoint * j->total + r->vrank;
	c->dest = job_dest_of(r, c->endpoint);
	snprintf(user, sizeof(user), "%.*s", (int)strcspn(j->key, "/"), j->key);
	channel_begin(c, user);
	if (c->inner)
		trunk_stream_say_rest(c->zlink);
}
