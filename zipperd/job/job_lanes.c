/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes of jobs, see job_lanes.h. */
#include "zipperd/job/job_lanes.h"

#include <errno.h>

#include "zipperd/conn/crew.h"
#include "zipperd/conn/quota.h"

static struct lane *make_lane(struct job *j, uint32_t track, uint32_t from, uint32_t to, struct worker *w)
{
	const struct settings *c = &j->daemon->settings;
	struct lane *l = lane_create(j->endpoints * j->part[to].size, j->nparts);
	if (!l)
		return NULL;
	l->job = j->number;
	l->from = from;
	l->to = to;
	l->track = track;
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
	l->owner = j;
	l->memory.share = quota_memory(j->user);
	l->deficit.weight = quota_weight(j->user);
	lane_join(l, w);
	return l;
}

static void hand_over(struct job *j, struct lane *l)
{
	struct daemon *d = j->daemon;
	*job_lane(j, l->track, l->from, l->to) = l;
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

/* A source of lane l has receivers in the other lane, which may be the same worker's. The way back comes first, as a
 * message that is handed over may have to be answered. */
static bool join_lanes(struct job *j, struct lane *l, struct lane *other)
{
	return add_relay(j, other, l) && add_relay(j, l, other);
}

/* Joins the lane with lanes from the same part that have waited for it. */
static bool join_siblings(struct job *j, struct lane *l)
{
	bool all = true;
	for (uint32_t to = 0; to < j->nparts; to++) {
		struct lane *other = *job_lane(j, l->track, l->from, to);
		if (other && other->wanted >> l->to & 1)
			all &= join_lanes(j, other, l);
	}
	return all;
}

/* A job's tracks are with different workers, and jobs begin with different ones. */
int job_lanes_ensure(struct job *j, uint32_t track, uint32_t a, uint32_t b, struct zerr *err)
{
	if (*job_lane(j, track, a, b))
		return 0;
	struct worker *ab = crew_worker(j->daemon, j->part[a].fabric, j->part[b].fabric, j->number + track, err);
	if (!ab)
		return -EAGAIN;
	struct lane *lab = make_lane(j, track, a, b, ab), *lba = make_lane(j, track, b, a, ab->opposite);
	if (!lab || !lba) {
		lane_destroy(lab);
		lane_destroy(lba);
		return zerr_set(err, -ENOMEM, "out of memory");
	}
	hand_over(j, lab);
	hand_over(j, lba);
	/* Without the relays senders would wait in vain: better no channel, which ends the job. */
	return join_siblings(j, lab) && join_siblings(j, lba) ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

bool job_lanes_want(struct job *j, struct lane *l, uint32_t part)
{
	struct lane *other = *job_lane(j, l->track, l->from, part);
	l->wanted |= UINT64_C(1) << part;
	return !other || join_lanes(j, l, other);
}
