/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Max-min fair rates, see shares.h.
 *
 * A change concerns the flows that are new, and those that a link of a flow that came or went limits. With a flow, all
 * flows are concerned that one of its links limits. Their rates are filled up together, beside the others' rates. If
 * then a link limits a concerned flow below another flow on the link, that flow is concerned, too, and the filling is
 * done again; after some rounds, with all flows that links connect with these. In the end each flow has a link that is
 * full and on which no flow has more: the rates are those that a filling of all flows would find.
 */
#include "mapper/replay/shares.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define NEARLY 1e-9 /* relative difference of levels, which are rates a weight, that is rounding */
#define ROUNDS 3    /* after so many, all flows that links connect with concerned ones are concerned */

/* A flow on a link. */
struct cross {
	uint32_t flow, link;
	uint32_t along; /* the flow's next link */
	uint32_t at;	/* where it is on the link */
};

/* The same, in the list of the link. */
struct on {
	uint32_t flow, cross;
};

struct link {
	double capacity, load; /* load: of all flows, by their rates */
	struct on *on;	       /* [n], in no order */
	uint32_t n, room;
	uint32_t limited; /* the first flow that it limits, or SHARES_NONE */
	double level;	  /* of these; INFINITY: it limits none, unless those have gone */
	bool dirty;	  /* a flow has come or gone */
	/* while rates are found: */
	bool touched, closed; /* a concerned flow is on it; all flows that it limits are concerned */
	bool open;	      /* all flows on it are concerned */
	double left, weight;  /* for concerned flows without a rate yet, and their weight */
	uint32_t waiting;     /* such flows, by their crosses */
	uint32_t concerned;   /* all concerned flows, likewise */
};

struct flow {
	void *owner;
	double weight, rate;
	uint32_t limit, first; /* link, or SHARES_NONE; cross, or the next unused flow */
	uint32_t next, prev;   /* others that the same link limits */
	bool alive;
	bool concerned, filled;
	double new_rate;
	uint32_t new_limit;
};

struct fill {
	double level;
	uint32_t link;
};

struct list {
	uint32_t *at; /* [n] */
	uint32_t n, room;
};

struct shares {
	struct link *link;
	uint32_t links;
	struct cross *cross; /* [crosses] */
	uint32_t crosses, crosses_room, cross_unused;
	struct flow *flow; /* [flows] */
	uint32_t flows, flows_room, flow_unused;
	struct list fresh, dirty;	/* flows that came; links of flows that went */
	struct list concerned, touched; /* flows; links */
	struct fill *heap;
	uint32_t nheap, heap_room;
	bool failed;
};

int shares_create(struct shares **out, const double *capacity, uint32_t links)
{
	struct shares *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->cross_unused = s->flow_unused = SHARES_NONE;
	s->links = links;
	s->link = calloc(links + (size_t)1, sizeof(*s->link));
	if (!s->link)
		return -ENOMEM;
	for (uint32_t l = 0; l < links; l++) {
		s->link[l].capacity = capacity[l];
		s->link[l].limited = SHARES_NONE;
		s->link[l].level = INFINITY;
	}
	return 0;
}

void shares_destroy(struct shares *s)
{
	if (!s)
		return;
	for (uint32_t l = 0; s->link && l < s->links; l++)
		free(s->link[l].on);
	free(s->link);
	free(s->cross);
	free(s->flow);
	free(s->fresh.at);
	free(s->dirty.at);
	free(s->concerned.at);
	free(s->touched.at);
	free(s->heap);
	free(s);
}

/* Room for one more entry of `size` bytes behind n. */
static void *room(void *list, uint32_t n, uint32_t *has, size_t size)
{
	void *more;

	if (n < *has)
		return list;
	more = realloc(list, (2 * (size_t)n + 64) * size);
	if (more)
		*has = 2 * n + 64;
	return more;
}

static void push(struct shares *s, struct list *l, uint32_t value)
{
	uint32_t *more = room(l->at, l->n, &l->room, sizeof(*more));

	if (!more) {
		s->failed = true;
		return;
	}
	l->at = more;
	more[l->n++] = value;
}

/* --- flows come and go --- */

static uint32_t cross_new(struct shares *s)
{
	uint32_t at = s->cross_unused;
	struct cross *more;

	if (at != SHARES_NONE) {
		s->cross_unused = s->cross[at].along;
		return at;
	}
	more = room(s->cross, s->crosses, &s->crosses_room, sizeof(*more));
	if (!more)
		return SHARES_NONE;
	s->cross = more;
	return s->crosses++;
}

static uint32_t flow_new(struct shares *s)
{
	uint32_t at = s->flow_unused;
	struct flow *more;

	if (at != SHARES_NONE) {
		s->flow_unused = s->flow[at].first;
		return at;
	}
	more = room(s->flow, s->flows, &s->flows_room, sizeof(*more));
	if (!more)
		return SHARES_NONE;
	s->flow = more;
	return s->flows++;
}

static void dirty(struct shares *s, uint32_t link)
{
	if (s->link[link].dirty || s->link[link].limited == SHARES_NONE)
		return;
	s->link[link].dirty = true;
	push(s, &s->dirty, link);
}

/* The link, or SHARES_NONE, limits the flow. */
static void limit(struct shares *s, uint32_t flow, uint32_t link)
{
	struct flow *f = &s->flow[flow];

	if (f->limit == link)
		return;
	if (f->limit != SHARES_NONE) {
		*(f->prev == SHARES_NONE ? &s->link[f->limit].limited : &s->flow[f->prev].next) = f->next;
		if (f->next != SHARES_NONE)
			s->flow[f->next].prev = f->prev;
	}
	f->limit = link;
	if (link == SHARES_NONE)
		return;
	f->prev = SHARES_NONE;
	f->next = s->link[link].limited;
	if (f->next != SHARES_NONE)
		s->flow[f->next].prev = flow;
	s->link[link].limited = flow;
}

/* Takes the cross from its link. */
static void cross_leave(struct shares *s, const struct cross *x)
{
	struct link *l = &s->link[x->link];

	l->on[x->at] = l->on[--l->n];
	s->cross[l->on[x->at].cross].at = x->at;
	if (!l->n)
		l->load = 0; /* no rounding is left behind */
}

void shares_remove(struct shares *s, uint32_t flow)
{
	struct flow *f = &s->flow[flow];

	limit(s, flow, SHARES_NONE);
	for (uint32_t at = f->first, along; at != SHARES_NONE; at = along) {
		struct cross *x = &s->cross[at];

		along = x->along;
		s->link[x->link].load -= f->rate;
		cross_leave(s, x);
		dirty(s, x->link);
		x->along = s->cross_unused;
		s->cross_unused = at;
	}
	f->alive = false;
	f->first = s->flow_unused;
	s->flow_unused = flow;
}

int shares_add(struct shares *s, const uint32_t *link, uint32_t n, double weight, void *owner, uint32_t *out)
{
	uint32_t flow = flow_new(s);

	if (flow == SHARES_NONE)
		return -ENOMEM;
	s->flow[flow] = (struct flow){.owner = owner,
		.weight = weight,
		.limit = SHARES_NONE,
		.first = SHARES_NONE,
		.alive = true};
	for (uint32_t i = 0; i < n; i++) {
		struct link *l = &s->link[link[i]];
		struct on *more = room(l->on, l->n, &l->room, sizeof(*more));
		uint32_t at = more ? cross_new(s) : SHARES_NONE;

		l->on = more ? more : l->on;
		if (at == SHARES_NONE) {
			shares_remove(s, flow);
			return -ENOMEM;
		}
		s->cross[at] = (struct cross){flow, link[i], s->flow[flow].first, l->n};
		l->on[l->n++] = (struct on){flow, at};
		s->flow[flow].first = at;
	}
	push(s, &s->fresh, flow);
	*out = flow;
	return s->failed ? -ENOMEM : 0;
}

/* --- which flows are concerned --- */

static void concern(struct shares *s, uint32_t flow)
{
	if (!s->flow[flow].alive || s->flow[flow].concerned)
		return;
	s->flow[flow].concerned = true;
	push(s, &s->concerned, flow);
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
			struct link *l = &s->link[s->cross[at].link];

			if (!l->touched) {
				l->touched = true;
				push(s, &s->touched, s->cross[at].link);
			}
			if (connected)
				concern_on(s, s->cross[at].link);
			else
				concern_limited(s, s->cross[at].link);
		}
}

/* --- filling --- */

/* Of links that are full at the same level, the one with the lower number comes first. */
static bool fills_before(const struct fill *a, const struct fill *b)
{
	return a->level < b->level || (!(b->level < a->level) && a->link < b->link);
}

static void heap_push(struct shares *s, uint32_t link)
{
	struct fill e = {s->link[link].left / s->link[link].weight, link};
	struct fill *more = room(s->heap, s->nheap, &s->heap_room, sizeof(*more));
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

static struct fill heap_pop(struct shares *s)
{
	struct fill *heap = s->heap, first = heap[0], last = heap[--s->nheap];
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
		struct link *l = &s->link[s->touched.at[i]];

		l->left = l->capacity - l->load;
		l->weight = 0;
		l->waiting = l->concerned = 0;
		l->level = INFINITY;
	}
	for (uint32_t i = 0; i < s->concerned.n; i++) {
		struct flow *f = &s->flow[s->concerned.at[i]];

		f->filled = false;
		for (uint32_t x = f->first; x != SHARES_NONE; x = s->cross[x].along) {
			struct link *l = &s->link[s->cross[x].link];

			l->left += f->rate;
			l->weight += f->weight;
			l->waiting++;
			l->concerned++;
		}
	}
	for (uint32_t i = 0; i < s->touched.n; i++) {
		struct link *l = &s->link[s->touched.at[i]];

		l->left = l->left > 0 ? l->left : 0;
		heap_push(s, s->touched.at[i]);
	}
}

/* The link is full: the flows on it that have no rate yet get this level. */
static void link_fill(struct shares *s, uint32_t link, double level)
{
	struct link *full = &s->link[link];

	full->level = level;
	for (uint32_t i = 0; full->waiting; i++) {
		struct flow *f = &s->flow[full->on[i].flow];

		if (!f->concerned || f->filled)
			continue;
		f->filled = true;
		f->new_rate = level * f->weight;
		f->new_limit = link;
		for (uint32_t x = f->first; x != SHARES_NONE; x = s->cross[x].along) {
			struct link *l = &s->link[s->cross[x].link];

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
		struct fill e = heap_pop(s);
		const struct link *l = &s->link[e.link];

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
		const struct link *l = &s->link[s->touched.at[i]];

		if (isinf(l->level) || l->concerned == l->n)
			continue;
		for (uint32_t k = 0; k < l->n; k++) {
			const struct flow *f = &s->flow[l->on[k].flow];

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
		struct flow *f = &s->flow[s->concerned.at[i]];

		f->concerned = false;
		f->filled = fabs(f->new_rate - f->rate) > NEARLY * f->rate || f->new_limit != f->limit;
		for (uint32_t x = f->first; x != SHARES_NONE; x = s->cross[x].along)
			s->link[s->cross[x].link].load += f->new_rate - f->rate;
		limit(s, s->concerned.at[i], f->new_limit);
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

double shares_rate(const struct shares *s, uint32_t flow)
{
	return s->flow[flow].rate;
}

double shares_ceiling(const struct shares *s, uint32_t flow)
{
	double ceiling = INFINITY;

	for (uint32_t at = s->flow[flow].first; at != SHARES_NONE; at = s->cross[at].along) {
		const struct link *l = &s->link[s->cross[at].link];
		double here = l->limited != SHARES_NONE ? l->level * s->flow[flow].weight : l->capacity;

		ceiling = here < ceiling ? here : ceiling;
	}
	return ceiling;
}

uint32_t shares_limit(const struct shares *s, uint32_t flow)
{
	return s->flow[flow].limit;
}
