/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hybrids (the paper's section 4.3.1): one plan between the leaders of the sites, and a binomial pipeline inside each
 * site with the site's leader as its root. The leader of the root's site is the root; the leader of another site is its
 * lowest member.
 *
 * Steps of the two plans take turns, so that a leader still sends and receives at most one block in a step: step t of
 * the upper plan is step 2t; step t of an inner plan is step 2(t + delay) + 1. The delay gives the leader the time to
 * receive block t: it is the leader's place in the chain, or twice the dimensions of the upper hypercube.
 */
#include "common/castplan/castplan_hybrid.h"

#include <errno.h>
#include <stdlib.h>

#include "common/castplan/castplan_pipeline.h"
#include "common/castplan/castplan_simple.h"

struct layers {
	uint32_t *leaders;		   /* [nsites], the leader of the root's site first */
	uint32_t *locals;		   /* [nlocals] members of one site, its leader first */
	uint32_t nsites, nlocals, largest; /* largest: the number of members of the largest site */
	uint32_t place;			   /* of that site in leaders */
};

struct site {			  /* in a hash table with at least twice as many places, by number */
	uint32_t number, members; /* members 0: an empty place */
};

static struct site *find_site(struct site *table, uint32_t bits, uint32_t number)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t at =
		number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits); /* Fibonacci hashing: Knuth, volume 3, 6.4 */
	while (table[at].members && table[at].number != number)
		at = (at + 1) & mask;
	return &table[at];
}

/* Makes the layers as a member sees them, in linear time, as this is done for every message. Returns 0 or -ENOMEM. */
static int make_layers(struct layers *l, const struct zcastplan_shape *shape, uint32_t member)
{
	const uint32_t n = shape->members, bits = zcastplan_base_log2(n) + 1;
	struct site *table = calloc((size_t)1 << bits, sizeof(*table));
	*l = (struct layers){.leaders = malloc(n * sizeof(uint32_t)), .locals = malloc(n * sizeof(uint32_t))};
	if (!table || !l->leaders || !l->locals) {
		free(table);
		free(l->leaders);
		free(l->locals);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct site *s = find_site(table, bits, shape->site[i]);
		s->number = shape->site[i];
		if (s->members++ == 0)
			l->leaders[l->nsites++] = i; /* the root first */
		if (s->members > l->largest)
			l->largest = s->members;
		if (s->number == shape->site[member])
			l->locals[l->nlocals++] = i;
	}
	free(table);
	while (l->leaders[l->place] != l->locals[0])
		l->place++;
	return 0;
}

static void free_layers(struct layers *l)
{
	free(l->leaders);
	free(l->locals);
}

/* The plan between the leaders. */
static const struct zcastplan_ops *upper(enum zcastplan_algorithm hybrid)
{
	return hybrid == ZCASTPLAN_HYBRID_CHAIN ? &zcastplan_simple_chain : &zcastplan_pipeline;
}

/* The number of steps after which the leader at this place has what the root has, one block in each step. A vertex of
 * the hypercube has block t after d more steps. Where two leaders share a vertex, the second one may get the block as
 * many steps later, while the first one sends it. */
static uint64_t delay_of(enum zcastplan_algorithm hybrid, const struct layers *l, uint32_t place)
{
	if (place == 0)
		return 0;
	return hybrid == ZCASTPLAN_HYBRID_CHAIN ? place : 2 * zcastplan_base_log2(l->nsites);
}

static uint64_t hybrid_steps(const struct zcastplan_shape *shape)
{
	struct layers l;
	if (make_layers(&l, shape, 0) != 0)
		return UINT64_MAX;
	struct zcastplan_shape top = {.members = l.nsites, .blocks = shape->blocks};
	struct zcastplan_shape inner = {.members = l.largest, .blocks = shape->blocks};
	uint64_t above = 2 * zcastplan_base_steps(upper(shape->algorithm), &top);
	uint64_t inside = zcastplan_base_steps(&zcastplan_pipeline, &inner);
	/* An upper bound: the largest site may have a smaller delay than the last site. */
	uint64_t below = inside ? 2 * (inside + delay_of(shape->algorithm, &l, l.nsites - 1)) : 0;
	free_layers(&l);
	return above > below ? above : below;
}

static int hybrid_begin(struct zcastplan *p, const struct zcastplan_shape *shape)
{
	struct layers l;
	if (make_layers(&l, shape, p->me) != 0)
		return -ENOMEM;
	p->u.hybrid.leaders = l.leaders;
	p->u.hybrid.locals = l.locals;
	p->u.hybrid.delay = delay_of(shape->algorithm, &l, l.place);
	struct zcastplan_shape inner = {.members = l.nlocals, .blocks = p->blocks};
	uint32_t place = 0;
	while (l.locals[place] != p->me)
		place++;
	p->u.hybrid.inner = zcastplan_base_create(&zcastplan_pipeline, &inner, place);
	if (!p->u.hybrid.inner)
		return -ENOMEM;
	p->u.hybrid.have_inner = zcastplan_base_next(p->u.hybrid.inner, &p->u.hybrid.inner_step);
	if (l.leaders[l.place] != p->me)
		return 0;
	struct zcastplan_shape top = {.members = l.nsites, .blocks = p->blocks};
	p->u.hybrid.top = zcastplan_base_create(upper(shape->algorithm), &top, l.place);
	if (!p->u.hybrid.top)
		return -ENOMEM;
	p->u.hybrid.have_top = zcastplan_base_next(p->u.hybrid.top, &p->u.hybrid.top_step);
	return 0;
}

static void hybrid_end(struct zcastplan *p)
{
	zcastplan_base_destroy(p->u.hybrid.top);
	zcastplan_base_destroy(p->u.hybrid.inner);
	free(p->u.hybrid.leaders);
	free(p->u.hybrid.locals);
}

/* Translates a step of one of the two plans into the numbers of the group. */
static void translate(const struct zcastplan_step *step, const uint32_t *members, uint64_t number,
	struct zcastplan_step *out)
{
	*out = *step;
	out->number = number;
	if (out->to != ZCASTPLAN_NOBODY)
		out->to = members[out->to];
	if (out->from != ZCASTPLAN_NOBODY)
		out->from = members[out->from];
}

static bool hybrid_next(struct zcastplan *p, struct zcastplan_step *out)
{
	uint64_t above = 2 * p->u.hybrid.top_step.number;
	uint64_t below = 2 * (p->u.hybrid.inner_step.number + p->u.hybrid.delay) + 1;
	if (p->u.hybrid.have_top && (!p->u.hybrid.have_inner || above < below)) {
		translate(&p->u.hybrid.top_step, p->u.hybrid.leaders, above, out);
		p->u.hybrid.have_top = zcastplan_base_next(p->u.hybrid.top, &p->u.hybrid.top_step);
		return true;
	}
	if (!p->u.hybrid.have_inner)
		return false;
	translate(&p->u.hybrid.inner_step, p->u.hybrid.locals, below, out);
	p->u.hybrid.have_inner = zcastplan_base_next(p->u.hybrid.inner, &p->u.hybrid.inner_step);
	return true;
}

/* Adds the peers of one of the two plans, in the numbers of the group. */
static int add_peers(const struct zcastplan *of, const uint32_t *members, bool *peer)
{
	bool *found = of && of->steps ? calloc(of->members, sizeof(*found)) : NULL;
	if (!of || !of->steps)
		return 0;
	int rc = found ? of->ops->peers(of, found) : -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < of->members; i++)
		peer[members[i]] |= found[i];
	free(found);
	return rc;
}

static int hybrid_peers(const struct zcastplan *p, bool *peer)
{
	int rc = add_peers(p->u.hybrid.top, p->u.hybrid.leaders, peer);
	return rc == 0 ? add_peers(p->u.hybrid.inner, p->u.hybrid.locals, peer) : rc;
}

#define HYBRID(NAME)                                                                                                   \
	{                                                                                                              \
		.name = NAME, .steps = hybrid_steps, .begin = hybrid_begin, .next = hybrid_next,                       \
		.peers = hybrid_peers, .end = hybrid_end                                                               \
	}
const struct zcastplan_ops zcastplan_hybrid_chain = HYBRID("hybrid-chain");
const struct zcastplan_ops zcastplan_hybrid_pipeline = HYBRID("hybrid-pipeline");
