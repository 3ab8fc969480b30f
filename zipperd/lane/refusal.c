/* SPDX-License-Identifier: BSD-3-Clause */
/* Refusals, their table in the lane, and what their sources are told; see refusal.h. */
#include "zipperd/lane/refusal.h"

#include <errno.h>

#include "zipperd/lane/worker.h"

#define RESUME_BATCH 2 /* a source may send a window of 256 KiB at once, a quarter of the default share */

static struct refusal **bucket_of(struct lane *l, uint32_t src, uint32_t dest)
{
	uint32_t h = (src * 0x9e3779b1u) ^ (dest * 0x85ebca6bu); /* odd multipliers spread neighbours */
	return &l->bucket[(h >> 16 ^ h) & (LANE_BUCKETS - 1)];
}

struct refusal *refusal_find(struct lane *l, uint32_t src, const struct dest *d)
{
	struct refusal *r = *bucket_of(l, src, d->index);
	while (r && (r->src != src || r->dest != d))
		r = r->chain;
	return r;
}

struct refusal *refusal_add(struct buf *b, uint32_t src, struct dest *d, uint64_t seq)
{
	struct refusal *r = (struct refusal *)(void *)b->payload;
	struct refusal **bucket = bucket_of(d->lane, src, d->index);
	*r = (struct refusal){.chain = *bucket, .dest = d, .buf = b, .seq = seq, .src = src};
	*bucket = r;
	list_add(&d->refused, &r->of_dest);
	d->nrefused++;
	return r;
}

void refusal_del(struct pool *pool, struct refusal *r)
{
	struct dest *d = r->dest;
	struct refusal **at = bucket_of(d->lane, r->src, d->index);
	while (*at != r)
		at = &(*at)->chain;
	*at = r->chain;
	if (r->state == REFUSAL_RESUMED || r->state == REFUSAL_RESUME_DUE)
		d->nresumed--;
	d->nrefused--;
	list_del(&r->of_dest);
	list_del(&r->due);
	pool_put(pool, r->buf);
}

void refusal_tell(struct worker *w, struct refusal *r, enum refusal_state due)
{
	struct dest *d = r->dest;
	bool was = r->state == REFUSAL_RESUMED || r->state == REFUSAL_RESUME_DUE;
	d->nresumed -= was;
	d->nresumed += due == REFUSAL_RESUME_DUE;
	r->state = due;
	if (!list_linked(&r->due))
		list_add(&w->due, &r->due);
}

void refusal_resume(struct worker *w, struct dest *d)
{
	struct list *node, *after;
	if (d->gone || d->sequenced_bytes >= d->lane->limits.dest_share / 2)
		return;
	/* Short of memory: when the queue moves again, or at the latest when it is empty. */
	if (d->sequenced_bytes > 0 && !share_allows(&d->lane->memory, SHARE_CHUNK))
		return;
	list_for_each(node, after, &d->refused) {
		struct refusal *r = list_entry(node, struct refusal, of_dest);
		if (d->nresumed >= RESUME_BATCH)
			return;
		if (r->state == REFUSAL_HELD)
			refusal_tell(w, r, REFUSAL_RESUME_DUE);
	}
}

int refusal_note(struct worker *w, struct dest *d, uint32_t src, uint64_t seq, enum refusal_state due,
	struct buf **spare)
{
	struct refusal *r = d->nrefused ? refusal_find(d->lane, src, d) : NULL;
	if (!r) {
		struct buf *b = pool_get(&w->pool, sizeof(struct refusal));
		if (!b) {
			b = *spare;
			*spare = NULL;
		}
		if (!b)
			return -EAGAIN;
		r = refusal_add(b, src, d, seq);
	}
	if (due == REFUSAL_NAK_DUE)
		lane_add(&d->lane->stats.naks, 1);
	refusal_tell(w, r, due);
	return 0;
}

void refusal_take_waiting(struct worker *w, struct dest *d, struct buf **b)
{
	struct zwire_env env;
	if (zwire_decode(&env, (*b)->env) == 0 && (rules_is_sequenced(env.kind) || env.kind == ZWIRE_RAILS))
		refusal_note(w, d, env.src, env.seq, REFUSAL_BYE_DUE, b);
}

void refusal_send_due(struct worker *w)
{
	static const uint8_t kind[] =
		{[REFUSAL_NAK_DUE] = ZWIRE_NAK, [REFUSAL_RESUME_DUE] = ZWIRE_RESUME, [REFUSAL_BYE_DUE] = ZWIRE_BYE};
	static const enum refusal_state next[] = {[REFUSAL_NAK_DUE] = REFUSAL_HELD,
		[REFUSAL_RESUME_DUE] = REFUSAL_RESUMED,
		[REFUSAL_BYE_DUE] = REFUSAL_BYE_SAID};
	while (!list_empty(&w->due)) {
		struct refusal *r = list_entry(w->due.next, struct refusal, due);
		struct lane *l = r->dest->lane;
		struct note note = {.seq = r->seq,
			.job = l->job,
			.dst = r->src,
			.kind = kind[r->state],
			.src = l->station_of[r->dest->index]};
		if (!ports_note(w, &note))
			return; /* the next round tries again */
		list_del(&r->due);
		r->state = next[r->state];
		if (r->state == REFUSAL_HELD)
			refusal_resume(w, r->dest); /* the queue may have drained meanwhile */
	}
}
