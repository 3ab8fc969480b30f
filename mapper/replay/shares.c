/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows come and go, see shares.h. */
#include "mapper/replay/shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mapper/replay/shares_state.h"

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

static uint32_t cross_new(struct shares *s)
{
	uint32_t at = s->cross_unused;
	struct shares_cross *more;

	if (at != SHARES_NONE) {
		s->cross_unused = s->cross[at].along;
		return at;
	}
	more = shares_state_room(s->cross, s->crosses, &s->crosses_room, sizeof(*more));
	if (!more)
		return SHARES_NONE;
	s->cross = more;
	return s->crosses++;
}

static uint32_t flow_new(struct shares *s)
{
	uint32_t at = s->flow_unused;
	struct shares_flow *more;

	if (at != SHARES_NONE) {
		s->flow_unused = s->flow[at].first;
		return at;
	}
	more = shares_state_room(s->flow, s->flows, &s->flows_room, sizeof(*more));
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
	shares_state_push(s, &s->dirty, link);
}

/* Takes the cross from its link. */
static void cross_leave(struct shares *s, const struct shares_cross *x)
{
	struct shares_link *l = &s->link[x->link];

	l->on[x->at] = l->on[--l->n];
	s->cross[l->on[x->at].cross].at = x->at;
	if (!l->n)
		l->load = 0; /* no rounding is left behind */
}

void shares_remove(struct shares *s, uint32_t flow)
{
	struct shares_flow *f = &s->flow[flow];

	shares_state_limit(s, flow, SHARES_NONE);
	for (uint32_t at = f->first, along; at != SHARES_NONE; at = along) {
		struct shares_cross *x = &s->cross[at];

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
	s->flow[flow] = (struct shares_flow){.owner = owner,
		.weight = weight,
		.limit = SHARES_NONE,
		.first = SHARES_NONE,
		.alive = true};
	for (uint32_t i = 0; i < n; i++) {
		struct shares_link *l = &s->link[link[i]];
		struct shares_on *more = shares_state_room(l->on, l->n, &l->room, sizeof(*more));
		uint32_t at = more ? cross_new(s) : SHARES_NONE;

		l->on = more ? more : l->on;
		if (at == SHARES_NONE) {
			shares_remove(s, flow);
			return -ENOMEM;
		}
		s->cross[at] = (struct shares_cross){flow, link[i], s->flow[flow].first, l->n};
		l->on[l->n++] = (struct shares_on){flow, at};
		s->flow[flow].first = at;
	}
	shares_state_push(s, &s->fresh, flow);
	*out = flow;
	return s->failed ? -ENOMEM : 0;
}

double shares_rate(const struct shares *s, uint32_t flow)
{
	return s->flow[flow].rate;
}

double shares_ceiling(const struct shares *s, uint32_t flow)
{
	double ceiling = INFINITY;

	for (uint32_t at = s->flow[flow].first; at != SHARES_NONE; at = s->cross[at].along) {
		const struct shares_link *l = &s->link[s->cross[at].link];
		double here = l->limited != SHARES_NONE ? l->level * s->flow[flow].weight : l->capacity;

		ceiling = here < ceiling ? here : ceiling;
	}
	return ceiling;
}

uint32_t shares_limit(const struct shares *s, uint32_t flow)
{
	return s->flow[flow].limit;
}
