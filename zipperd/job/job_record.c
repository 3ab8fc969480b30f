/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs as records, see job_record.h. */
#include "zipperd/job/job_record.h"

#include <stdio.h>
#include <string.h>

_Static_assert(LANE_LATENCIES == ZCTL_LATENCIES, "a lane's buckets are those of STATUS_REPLY");

static uint64_t load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* As far as anybody has told. */
static uint32_t size_of(const struct job *j, uint32_t part)
{
	return j->part[part].size ? j->part[part].size : j->expected[part];
}

static uint32_t total_of(const struct job *j)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < j->nparts; i++) {
		if (size_of(j, i) == 0)
			return j->total;
		total += size_of(j, i);
	}
	return j->total ? j->total : total;
}

void job_record_fill(const struct job *j, struct zctl_job_status *out)
{
	const int64_t now = j->daemon->now_ms, end = j->over_ms ? j->over_ms : now;
	*out = (struct zctl_job_status){.number = j->number,
		.phase = j->state == JOB_FORMING   ? ZCTL_JOB_FORMS
			 : j->state == JOB_RUNNING ? ZCTL_JOB_RUNS
						   : ZCTL_JOB_ENDS,
		.age_ms = (uint64_t)(end - j->started_ms),
		.ended_ms = (uint64_t)(now - end),
		.total = total_of(j),
		.joined = j->njoined,
		.done = j->ndone,
		.endpoints = j->endpoints,
		.rail = j->rail,
		.nrails = j->nrails,
		.incarnation = j->incarnation,
		.channels = j->nchannels,
		.nparts = j->nparts};
	snprintf(out->user, sizeof(out->user), "%.*s", (int)(j->id - j->key) - 1, j->key);
	snprintf(out->id, sizeof(out->id), "%s", j->id);
	snprintf(out->text, sizeof(out->text), "%s", j->text);
}

void job_record_fill_parts(const struct job *j, struct zctl_part_status *part)
{
	for (uint32_t i = 0; i < j->nparts; i++) {
		memset(&part[i], 0, sizeof(part[i]));
		memcpy(part[i].name, j->part[i].name, sizeof(part[i].name));
		memcpy(part[i].fabric, j->daemon->settings.fabric[j->part[i].fabric], sizeof(part[i].fabric));
		part[i].size = size_of(j, i);
		part[i].joined = j->part[i].joined;
	}
}

static void add_lane(struct zctl_lane_status *out, const struct lane_stats *s)
{
	out->msgs = load(&s->msgs);
	out->bytes = load(&s->bytes);
	out->envelopes = load(&s->envelopes);
	out->copied_bytes = load(&s->copied_bytes);
	out->naks = load(&s->naks);
	out->queue_high_bytes = load(&s->queue_high_bytes);
	out->shared_bytes = load(&s->shared_bytes);
	out->queue_bytes = load(&s->queue_bytes);
	out->stalls = load(&s->stalls);
	out->latency_ns = load(&s->latency_ns);
	for (int i = 0; i < ZCTL_LATENCIES; i++)
		out->latency[i] = load(&s->latency[i]);
}

uint32_t job_record_fill_lanes(const struct job *j, uint32_t *at, struct zctl_lane_status *lane, uint32_t max)
{
	const uint32_t all = j->nparts * j->nparts;
	uint32_t n = 0, i = *at;
	for (; i < all; i++) {
		const struct zctl_to_part *direct = j->direct && j->direct[i].msgs ? &j->direct[i] : NULL;
		if (!j->lane[i] && !direct)
			continue;
		if (n == max)
			break;
		struct zctl_lane_status *out = &lane[n++];
		*out = (struct zctl_lane_status){.from = i / j->nparts, .to = i % j->nparts};
		if (j->lane[i])
			add_lane(out, &j->lane[i]->stats);
		if (direct) {
			out->direct_msgs = direct->msgs;
			out->direct_bytes = direct->bytes;
		}
	}
	*at = i < all ? i : 0;
	return n;
}
