/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a sample of messages, see sample.h. */
#include "zipperd/lane/sample.h"

#include "common/base/clock.h"
#include "zipperd/lane/lane.h"
#include "zipperd/lane/worker.h"

/* Bucket i has the times below 1 << i microseconds that no lower one has; the last one has the rest. */
static unsigned bucket_of(int64_t ns)
{
	const uint64_t us = ns < 0 ? 0 : (uint64_t)ns / 1000;
	const unsigned bits = us ? 64u - (unsigned)__builtin_clzll(us) : 0;
	return bits < LANE_LATENCIES ? bits : LANE_LATENCIES - 1;
}

/* The message that waits last. NULL: none waits. */
static const struct buf *last_of(const struct dest *d)
{
	return d->head ? (const struct buf *)(const void *)((const char *)d->tail - offsetof(struct buf, next)) : NULL;
}

static void free_slot(struct samples *s, uint32_t i)
{
	s->slot[i] = s->slot[--s->count];
}

static void end(struct samples *s, uint32_t i, int64_t now_ns)
{
	const struct sample_slot *t = &s->slot[i];
	struct lane_stats *st = &t->dest->lane->stats;
	lane_add(&st->latency_ns, (uint64_t)(now_ns - t->begun_ns));
	lane_add(&st->latency[bucket_of(now_ns - t->begun_ns)], 1);
	free_slot(s, i);
}

void sample_begin(struct worker *w, struct dest *d, int64_t begun_ns)
{
	struct samples *s = &w->samples;
	if (s->count < SAMPLE_SLOTS)
		s->slot[s->count++] = (struct sample_slot){.begun_ns = begun_ns, .dest = d, .buf = last_of(d)};
}

void sample_flushed(struct worker *w)
{
	struct samples *s = &w->samples;
	const int64_t now = zclock_ns();
	for (uint32_t i = s->count; i-- > 0;)
		if (!s->slot[i].buf)
			end(s, i, now);
}

void sample_posted(struct worker *w, const struct buf *b)
{
	struct samples *s = &w->samples;
	for (uint32_t i = s->count; i-- > 0;)
		if (s->slot[i].buf == b)
			end(s, i, zclock_ns());
}

void sample_forget(struct worker *w, const struct dest *d)
{
	struct samples *s = &w->samples;
	for (uint32_t i = s->count; i-- > 0;)
		if (s->slot[i].dest == d)
			free_slot(s, i);
}
