/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of workers, see crew_event.h. */
#include "zipperd/control/crew_event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "zipperd/conn/channel.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/control/watchdog.h"
#include "zipperd/job/circuit.h"
#include "zipperd/job/job_end.h"
#include "zipperd/job/job_lanes.h"
#include "zipperd/trunk/trunk.h"

/* The rank's messages came to another worker than the one that its channel is with. */
static void breach_elsewhere(const struct event *e)
{
	struct job *j = e->lane->owner;
	if (j->state == JOB_RUNNING)
		rank_breach(job_rank_of(j, e->station), e->breach);
}

static void half_lost(struct channel *c, const struct event *e)
{
	struct rank *r = c->rank;
	char text[ZCTL_TEXT_MAX + 1];
	if (e->breach && r->job->state == JOB_RUNNING) {
		rank_breach(r, e->breach);
		return;
	}
	if (!c->bye && e->rc != -ESHUTDOWN)
		snprintf(text, sizeof(text), "its data connection%s%s broke: %s", c->over[0] ? " over " : "", c->over,
			zlink_why(e->rc));
	else
		snprintf(text, sizeof(text), "its data connection was closed");
	if (!c->bye)
		rank_suspect(r, text);
	channel_drop(c);
}

/* The rank's station takes nothing from that part any more. */
static void said_bye(struct daemon *d, struct channel *c)
{
	struct job *j = c->rank->job;
	if (c->bye || j->state != JOB_RUNNING)
		return;
	c->bye = true;
	struct lane *in = *job_lane(j, c->track, c->to, c->rank->part);
	crew_send(d, in->worker,
		&(struct command){.kind = CMD_DEST_BYE, .lane = in, .dest = job_dest_of(c->rank, c->endpoint)});
}

/* A message waits for a rank's station that has no channel for it: asks the rank for one. */
static void ask_open(const struct event *e)
{
	struct job *j = e->lane->owner;
	if (j->state != JOB_RUNNING)
		return;
	uint32_t station = e->lane->station_of[e->dest], endpoint = station / j->total;
	struct rank *r = job_rank_of(j, station);
	if (r->done || !r->conn || rank_channel(r, e->lane->track, e->lane->from, endpoint))
		return;
	struct zctl_msg msg = {.type = ZCTL_OPEN};
	msg.u.open.part = e->lane->from;
	msg.u.open.endpoint = endpoint;
	msg.u.open.track = e->lane->track;
	conn_send(r->conn, &msg);
}

/* A message in the lane is for another part as well. */
static void want_relay(struct lane *l, uint32_t part)
{
	struct job *j = l->owner;
	if (j->state == JOB_RUNNING && !job_lanes_want(j, l, part)) /* the sender would wait in vain */
		job_end(j, 1, "out of memory");
}

void crew_event(struct daemon *d, const struct event *e)
{
	if (e->kind == EVENT_PONG) {
		watchdog_pong(d);
		return;
	}
	if (e->kind != EVENT_HALF_GONE && (e->channel ? e->channel->trunk != NULL : e->lane->trunk)) {
		trunk_event(e);
		return;
	}
	if (e->kind != EVENT_HALF_GONE && (e->channel ? e->channel->circuit != NULL : e->lane->circuit)) {
		circuit_event(e);
		return;
	}
	switch (e->kind) {
	case EVENT_OPEN:
		ask_open(e);
		break;
	case EVENT_BYE:
		said_bye(d, e->channel);
		break;
	case EVENT_HALF_LOST:
		half_lost(e->channel, e);
		break;
	case EVENT_STREAM: /* see above */
	case EVENT_PONG:
		break;
	case EVENT_BREACH:
		breach_elsewhere(e);
		break;
	case EVENT_RELAY:
		want_relay(e->lane, e->part);
		break;
	case EVENT_HALF_GONE:
		channel_half_gone(e->channel);
		break;
	case EVENT_LANE_GONE: {
		struct job *j = e->lane->owner;
		j->nlanes--; /* the counters are kept until the job is freed */
		job_free_if_unused(j);
		break;
	}
	}
}
