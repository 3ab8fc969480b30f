/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Max-min fair rates, see shares_settle.h.
 *
 * A change concerns the flows that are new, and those that a link of a flow that came or went limits. With a flow, all
 * flows are concerned that one of its links limits. Their rates are filled up together, beside the others' rates. If
 * then a link limits a concerned flow below another flow on the link, that flow is concerned, too, and the filling is
 * done again; after some rounds, with all flows that links connect with these. In the end each flow has a link that is
 * full and on which no flow has more: the rates are those that a filling of all flows would find.
 */
#include "mapper/replay/shares_settle.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "mapper/replay/shares_state.h"

#define NEARLY 1e-9 /* relative difference of levels, which are rates a weight, that is rounding */
#define ROUNDS 3    /* after so many, all flows that links connect with concerned ones are concerned */

/* --- which flows are concerned --- */

static void concern(struct shares *s, uint32_t flow)
{
	if (!s->flow[flow].alive || s->flow[flow].concerned)
		return;
	s->flow[flow].concerned = true;
	shares_state_push(s, &s->concerned, flow);
}

static void concern_limited(struct shares *s, uint32_t link)
{
	if (s->link[link].closed)
		return;
	s->link[link].closed = true;
	for (uint32_t at = s->link[link].limited; at != SHARES_NONE; at = s->flow[at].next)
		concern(s, at);
}

/* All flows on the link, whatever limits them. */
static void concern_on(struct shares *s, uint32_t link)
{
	if (s->link[link].open)
		return;
	s->link[link].open = true;
	for (uint32_t i = 0; i < s->link[link].n; i++)
		concern(s, s->link[link].on[i].flow);
}

/* Adds what the concerned flows from number `from` on bring with them; connected: all flows that links connect. */
static void concern_all(struct shares *s, uint32_t from, bool connected)
{
	if (connected)
		from = 0;
	for (uint32_t i = from; i < s->concerned.n && !s->failed; i++)
		for (uint32_t at = s->flow[s->concerned.at[i]].first; at != SHARES_NONE; at = s->cross[at].along) {
			struct shares_link *l = &s->link[s->cross[at].link];

			if (!l->touched) {
				l->touched = true;
				shares_state_push(s, &s->touched, s->cross[at].link);
			}
			if (connected)
				concern_on(s, s->cross[at].link);
			else
				concern_limited(s, s->cross[at].link);
		}
}

/* --- filling --- */

/* Of links that are full at the same level, the one with the lower number comes first. */
static bool fills_before(const struct shares_fill *a, const struct shares_fill *b)
{
	return a->level < b->level || (!(b->level < a->level) && a->link < b->link);
}

static void heap_push(struct shares *s, uint32_t link)
{
	struct shares_fill e = {s->link[link].left / s->link[link].weight, link};
	struct shares_fill *more = shares_state_room(s->heap, s->nheap, &s->heap_room, sizeof(*more));
	uint32_t at = s->nheap;

	if (!more) {
		s->failed = true;
		return;
	}
	s->heap = more;
	s->nheap++;
	while (at && fills_before(&e, &more[(at - 1) / 2])) {
		more[at] = more[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	more[at] = e;
}

static struct shares_fill heap_pop(struct shares *s)
{
	struct shares_fill *heap = s->heap, first = heap[0], last = heap[--s->nheap];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < s->nheap) {
		child += child + 1 < s->nheap && fills_before(&heap[child + 1], &heap[child]);
		if (!fills_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* Takes the concerned flows from their links: what is left is for them. */
static void links_begin(struct shares *s)
{
	for (uint32_t i = 0; i < s->touched.n; i++) {
		struct shares_link *l = &s->link[s->touched.at[i]];

		l->left = l->capacity - l->load;
		l->weight = 0;
		l->waiting = l->concerned = 0;
		l->level = INFINITY;
	}
	for (uint32_t i = 0; i < s->concerned.n; i++) {
		struct shares_flow *f = &s->flow[s->concerned.at[i]];

		f->filled = false;
		for (uint32_t x = f->first; x != SHARES_NONE; x = s->cross[x].along) {
			struct shares_link *l = &s->link[s->cross[x].link];

			l->left += f->rate;
			l->weight += f->weight;
			l->waiting++;
			l->concerned++;
		}
	}
	for (uint32_t i = 0; i < s->touched.n; i++) {
		struct shares_link *l = &s->link[s->touched.at[i]];

		l->left = l->left > 0 ? l->left : 0;
		heap_push(s, s->touched.at[i]);
	}
}

/* The link is full: the flows on it that have no rate yet get this level. */
static void link_fill(struct shares *s, uint32_t link, double level)
{
	struct shares_link *full = &s->link[link];

	full->level = level;
	for (uint32_t i = 0; full->waiting; i++) {
		struct shares_flow *f = &s->flow[full->on[i].flow];

		if (!f->concerned || f->filled)
			continue;
		f->filled = true;
		f->new_rate = level * f->weight;
		f->new_limit = link;
		for (uint32_t x = f->first; x != SHARES_NONE; x = s->cross[x].along) {
			struct shares_link *l = &s->link[s->cross[x].link];

			l->left = l->left > f->new_rate ? l->left - f->new_rate : 0;
			l->weight -= f->weight;
			l->waiting--;
		}
	}
}

static void fill(struct shares *s)
{
	s->nheap = 0;
	links_begin(s);
	while (s->nheap && !s->failed) {
		struct shares_fill e = heap_pop(s);
		const struct shares_link *l = &s->link[e.link];

		if (!l->waiting)
			continue;
		/* levels only rise while others are filled */
		if (l->left / l->weight > e.level * (1 + NEARLY))
			heap_push(s, e.link);
		else
			link_fill(s, e.link, l->left / l->weight);
	}
}

/* Other flows that have more than a link lets concerned flows have are concerned, too. */
static void concern_larger(struct shares *s)
{
	for (uint32_t i = 0; i < s->touched.n; i++) {
		const struct shares_link *l = &s->link[s->touched.at[i]];

		if (isinf(l->level) || l->concerned == l->n)
			continue;
		for (uint32_t k = 0; k < l->n; k++) {
			const struct shares_flow *f = &s->flow[l->on[k].flow];

			if (!f->concerned && f->rate > l->level * f->weight * (1 + NEARLY))
				concern(s, l->on[k].flow);
		}
	}
}

/* --- all --- */

static void begin(struct shares *s)
{
	for (uint32_t i = 0; i < s->fresh.n; i++)
		concern(s, s->fresh.at[i]);
	for (uint32_t i = 0; i < s->dirty.n; i++) {
		s->link[s->dirty.at[i]].dirty = false;
		concern_limited(s, s->dirty.at[i]);
	}
	s->fresh.n = s->dirty.n = 0;
}

static void end(struct shares *s, shares_changed_fn *changed, void *arg)
{
	for (uint32_t i = 0; i < s->touched.n; i++)
		s->link[s->touched.at[i]].touched = s->link[s->touched.at[i]].closed = s->link[s->touched.at[i]].open =
			false;
	for (uint32_t i = 0; i < s->concerned.n; i++) {
		struct shares_flow *f = &s->flow[s->concerned.at[i]];

		f->concerned = false;
		f->filled = fabs(f->new_rate - f->rate) > NEARLY * f->rate || f->new_limit != f->limit;
		for (uint32_t x = f->first; x != SHARES_NONE; x = s->cross[x].along)
			s->link[s->cross[x].link].load += f->new_rate - f->rate;
		shares_state_limit(s, s->concerned.at[i], f->new_limit);
		f->rate = f->new_rate;
	}
	for (uint32_t i = 0; i < s->concerned.n; i++)
		if (s->flow[s->concerned.at[i]].filled) /* it has changed */
			changed(arg, s->flow[s->concerned.at[i]].owner);
	s->concerned.n = s->touched.n = 0;
}

int shares_settle(struct shares *s, shares_changed_fn *changed, void *arg)
{
	uint32_t done = 0;

	begin(s);
	for (unsigned round = 0; done < s->concerned.n && !s->failed; round++) {
		concern_all(s, done, round >= ROUNDS);
		done = s->concerned.n;
		fill(s);
		concern_larger(s);
	}
	if (s->failed)
		return -ENOMEM;
	end(s, changed, arg);
	return 0;
}
