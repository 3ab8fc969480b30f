/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of flows that share links, shared by their files: shares.c (flows come and go), shares_settle.c (rates).
 */
#ifndef ZIP_MAPPER_SHARES_STATE_H
#define ZIP_MAPPER_SHARES_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "mapper/replay/shares.h"

/* A flow on a link. */
struct shares_cross {
	uint32_t flow, link;
	uint32_t along; /* the flow's next link */
	uint32_t at;	/* where it is on the link */
};

/* The same, in the list of the link. */
struct shares_on {
	uint32_t flow, cross;
};

struct shares_link {
	double capacity, load; /* load: of all flows, by their rates */
	struct shares_on *on;  /* [n], in no order */
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

struct shares_flow {
	void *owner;
	double weight, rate;
	uint32_t limit, first; /* link, or SHARES_NONE; cross, or the next unused flow */
	uint32_t next, prev;   /* others that the same link limits */
	bool alive;
	bool concerned, filled;
	double new_rate;
	uint32_t new_limit;
};

struct shares_fill {
	double level;
	uint32_t link;
};

struct shares_list {
	uint32_t *at; /* [n] */
	uint32_t n, room;
};

struct shares {
	struct shares_link *link;
	uint32_t links;
	struct shares_cross *cross; /* [crosses] */
	uint32_t crosses, crosses_room, cross_unused;
	struct shares_flow *flow; /* [flows] */
	uint32_t flows, flows_room, flow_unused;
	struct shares_list fresh, dirty;       /* flows that came; links of flows that went */
	struct shares_list concerned, touched; /* flows; links */
	struct shares_fill *heap;
	uint32_t nheap, heap_room;
	bool failed;
};

/* Room for one more entry of `size` bytes behind n. */
static inline void *shares_state_room(void *list, uint32_t n, uint32_t *has, size_t size)
{
	void *more;

	if (n < *has)
		return list;
	more = realloc(list, (2 * (size_t)n + 64) * size);
	if (more)
		*has = 2 * n + 64;
	return more;
}

static inline void shares_state_push(struct shares *s, struct shares_list *l, uint32_t value)
{
	uint32_t *more = shares_state_room(l->at, l->n, &l->room, sizeof(*more));

	if (!more) {
		s->failed = true;
		return;
	}
	l->at = more;
	more[l->n++] = value;
}

/* The link, or SHARES_NONE, limits the flow. */
static inline void shares_state_limit(struct shares *s, uint32_t flow, uint32_t link)
{
	struct shares_flow *f = &s->flow[flow];

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

#endif
