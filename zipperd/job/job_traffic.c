/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic of a job, over all of its lanes and tracks; see job_traffic.h. */
#include "zipperd/job/job_traffic.h"

_Static_assert(LANE_LATENCIES == ZCTL_LATENCIES, "a lane's buckets are those of STATUS_REPLY");

static uint64_t load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void job_traffic_add(struct zctl_lane_status *out, const struct lane *l)
{
	const struct lane_stats *s = &l->stats;
	const uint64_t high = load(&s->queue_high_bytes);
	out->msgs += load(&s->msgs);
	out->bytes += load(&s->bytes);
	out->envelopes += load(&s->envelopes);
	out->copied_bytes += load(&s->copied_bytes);
	out->naks += load(&s->naks);
	if (high > out->queue_high_bytes)
		out->queue_high_bytes = high;
	out->shared_bytes += load(&s->shared_bytes);
	out->queue_bytes += load(&s->queue_bytes);
	out->stalls += load(&s->stalls);
	out->latency_ns += load(&s->latency_ns);
	for (int i = 0; i < ZCTL_LATENCIES; i++)
		out->latency[i] += load(&s->latency[i]);
}

bool job_traffic_sum(const struct job *j, uint32_t from, uint32_t to, struct zctl_lane_status *out)
{
	bool any = false;
	*out = (struct zctl_lane_status){.from = from, .to = to};
	for (uint32_t t = 0; t < j->tracks; t++) {
		const struct lane *l = *job_lane(j, t, from, to);
		if (l)
			job_traffic_add(out, l);
		any |= l != NULL;
	}
	if (j->direct && j->direct[from * j->nparts + to].msgs) {
		out->direct_msgs = j->direct[from * j->nparts + to].msgs;
		out->direct_bytes = j->direct[from * j->nparts + to].bytes;
		any = true;
	}
	return any;
}
