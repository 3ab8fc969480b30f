/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of starts and what is done with each. Large graphs get fewer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map_exact.h"
#include "map_search.h"
#include "map_start.h"
#include "rng.h"

#define SPLITS_MAX 8
#define SCOTCH_ENDS_MAX (UINT64_C(4) << 20) /* ends of edges up to which Scotch is asked too */
#define COVER_RANKS_MAX 200000u
#define LARGE_ENDS 16000000u	       /* ends of edges above which only the most promising starts are tried */
#define KICK_WORK (UINT64_C(40) << 20) /* ends of edges that kicks with effort 1 may look at, roughly */
#define KICKS_MAX 2000u
#define EXACT_WORK (UINT64_C(128) << 20) /* prices that the search of all maps may look at, with effort 1 */

const char *const map_strategy_names[MAP_STRATEGIES + 1] = {"auto", "pairs", "block", "edge-cut", "vertex-cut",
	"spread", "fastest", "keep", NULL};

struct search {
	const struct map_problem *p;
	const struct map_search_opts *o;
	struct map_cut cut;
	uint8_t *best, *start;
	map_cost least;
	bool any;
	struct map_split split[SPLITS_MAX];
	unsigned nsplits;
};

/* --- trying --- */

/* The state as it is now, if it is the best so far. */
static void search_keep(struct search *s, const char *what)
{
	if (s->any && s->cut.cost >= s->least)
		return;
	s->any = true;
	s->least = s->cut.cost;
	memcpy(s->best, s->cut.class, s->cut.n);
	if (s->o->progress)
		s->o->progress(s->o->progress_arg, what, s->least);
}

/* Refines s->start. A start that cannot be repaired is dropped. */
static int search_try(struct search *s, const char *what, struct zerr *err)
{
	int rc;

	map_cut_set(&s->cut, s->start);
	rc = map_cut_repair(&s->cut, err);
	if (rc)
		return rc == -ENOSPC ? 0 : rc;
	rc = map_cut_refine(&s->cut, err);
	if (!rc)
		search_keep(s, what);
	return rc;
}

/* --- splits --- */

static void split_add(struct search *s, const uint32_t *want)
{
	if (s->nsplits == SPLITS_MAX)
		return;
	for (unsigned i = 0; i < s->nsplits; i++)
		if (!memcmp(s->split[i].want, want, sizeof(s->split[i].want)))
			return;
	memcpy(s->split[s->nsplits++].want, want, sizeof(s->split[0].want));
}

/* How many ranks go to each cluster: by their slots; and filling them one after another, from either end. Those that a
 * cluster has no slots for will be moved to zipper nodes. */
static void splits_make(struct search *s)
{
	const struct map_site *site = s->p->site;
	uint32_t n = s->cut.n, slots[64] = {0};
	uint64_t all = 0;

	for (uint32_t c = 0; c < site->nclasses; c++)
		if (!site->classes[c].zipper)
			slots[__builtin_ctzll(site->classes[c].fabrics)] += site->classes[c].slots;
	for (uint32_t c = 0; c < site->nclusters; c++)
		all += slots[c];
	for (unsigned way = 0; way < 4 && all; way++) {
		uint32_t want[64] = {0}, left = n, last = 0;

		for (uint32_t i = 0; i < site->nclusters; i++) {
			uint32_t c = way == 2 ? site->nclusters - 1 - i : i;
			uint32_t share = way == 0   ? (uint32_t)((uint64_t)n * slots[c] / all)
					 : way == 3 ? n / site->nclusters
						    : slots[c];

			want[c] = slots[c] == 0 ? 0 : share < left ? share : left;
			left -= want[c];
			last = want[c] ? c : last;
		}
		want[last] += left;
		split_add(s, want);
	}
}

/* --- starts --- */

static int try_parts(struct search *s, const struct map_split *split, unsigned round, struct zerr *err)
{
	int rc = map_start_parts(s->p, split, round, s->start, err);

	return rc ? rc : search_try(s, "parts", err);
}

/* From parts to cuts through zipper nodes, for every pair of clusters with a zipper between. */
static int try_cuts(struct search *s, const struct map_split *split, unsigned round, bool edge, bool vertex,
	struct zerr *err)
{
	const struct map_site *site = s->p->site;
	int rc = 0;

	for (unsigned kind = 0; kind < 3 && !rc; kind++) {
		if (kind < 2 ? !edge : !vertex || s->cut.n > COVER_RANKS_MAX)
			continue;
		rc = map_start_parts(s->p, split, round, s->start, err);
		for (uint32_t i = 0; i < site->nclusters && !rc; i++)
			for (uint32_t j = 0; j < i && !rc; j++) {
				uint32_t a = map_start_side(site, i), b = map_start_side(site, j);
				uint32_t between = map_start_between(site, i, j);

				if (a == MAP_NONE || b == MAP_NONE || between == MAP_NONE)
					continue;
				if (kind == 2)
					rc = map_start_cover(s->p, a, b, between, s->start, err);
				else
					map_start_border(s->p, kind ? b : a, kind ? a : b, between, s->start);
			}
		if (!rc)
			rc = search_try(s, kind == 2 ? "cover" : "border", err);
	}
	return rc;
}

static int try_separator(struct search *s, unsigned round, struct zerr *err)
{
	const struct map_site *site = s->p->site;
	uint32_t a = map_start_side(site, 0), b = map_start_side(site, 1), between = map_start_between(site, 0, 1);
	int rc;

	if (site->nclusters != 2 || a == MAP_NONE || b == MAP_NONE || between == MAP_NONE)
		return 0;
	rc = map_start_separator(s->p, a, b, between, round, s->start, err);
	return rc ? rc : search_try(s, "separator", err);
}

static int try_scotch(struct search *s, unsigned round, struct zerr *err)
{
	int rc;

	if (s->p->graph->off[s->cut.n] > SCOTCH_ENDS_MAX || s->p->site->nclasses < 2)
		return 0;
	rc = map_start_scotch(s->p, round, s->start, err);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	return search_try(s, "Scotch", err);
}

/* Growing from some rank, a cluster with its zipper nodes first, then the next one. */
static int try_grow(struct search *s, unsigned round, struct zerr *err)
{
	const struct map_site *site = s->p->site;
	uint32_t order[MAP_CLASSES_MAX], n = 0, first = round % site->nclusters;
	bool in[MAP_CLASSES_MAX] = {false};
	uint32_t from = rng_below((uint32_t)rng_at(s->p->seed, RNG_MAP, 2, round), s->cut.n);
	int rc;

	for (uint32_t i = 0; i < site->nclusters; i++)
		for (int zipper = 0; zipper < 2; zipper++)
			for (uint32_t c = 0; c < site->nclasses; c++)
				if (!in[c] && site->classes[c].zipper == zipper &&
					site->classes[c].fabrics >> (first + i) % site->nclusters & 1) {
					in[c] = true;
					order[n++] = c;
				}
	rc = map_start_grow(s->p, order, n, from, s->start, err);
	return rc ? rc : search_try(s, "growing", err);
}

/* The best so far is disturbed and refined again, as often as the work allows. */
static int try_kicks(struct search *s, struct zerr *err)
{
	uint64_t cost = (uint64_t)s->cut.n * 8 + s->p->graph->off[s->cut.n];
	uint64_t kicks = KICK_WORK * s->o->effort / (cost * 4);
	int rc = 0;

	kicks = kicks < KICKS_MAX * s->o->effort ? kicks : KICKS_MAX * s->o->effort;
	for (uint64_t i = 0; i < kicks && !rc && s->least; i++) {
		uint32_t most = s->cut.n < MAP_EXACT_RANKS_MAX ? s->cut.n : s->cut.n / 4 + 1;

		map_cut_set(&s->cut, s->best);
		rc = map_cut_kick(&s->cut, 1 + rng_below((uint32_t)rng_at(s->p->seed, RNG_MAP, 3, i), most), err);
		if (rc == -ENOSPC)
			rc = 0;
		else if (!rc && !(rc = map_cut_refine(&s->cut, err)))
			search_keep(s, "a kick");
	}
	return rc;
}

/* Kicks and moves do not get out of everything where nothing is free, so all maps of a few ranks are searched. There
 * are many where a dozen and more all talk to each other: then what is found within the work is the result. */
static int try_all(struct search *s, struct zerr *err)
{
	map_cost least = s->least;
	const bool any = s->any;
	int rc = map_exact_search(&s->cut, EXACT_WORK * s->o->effort, s->best, &s->least, &s->any, err);

	if (rc >= 0 && s->any && (!any || s->least < least) && s->o->progress)
		s->o->progress(s->o->progress_arg, rc ? "some of all maps" : "all maps", s->least);
	return rc < 0 ? rc : 0;
}

static int search_run(struct search *s, struct zerr *err)
{
	const enum map_strategy way = s->o->strategy;
	const bool all = way == MAP_AUTO || way == MAP_SPREAD || way == MAP_FASTEST;
	const bool small = s->cut.n < 6 * s->p->site->nclusters + 4;
	const uint64_t ends = s->p->graph->off[s->cut.n];
	unsigned rounds = ends > 4000000 ? 1 : ends > 400000 ? 2 : 4;
	int rc = 0;

	/* METIS takes no graph without edges, and has no use for a handful of ranks */
	for (unsigned r = 0; r < rounds * s->o->effort && !rc && ends && !small; r++) {
		for (unsigned i = 0; i < (ends > LARGE_ENDS ? 1 : s->nsplits) && !rc; i++) {
			if (all)
				rc = try_parts(s, &s->split[i], r, err);
			if (!rc && (ends <= LARGE_ENDS || !all))
				rc = try_cuts(s, &s->split[i], r, all || way == MAP_EDGE_CUT,
					all || way == MAP_VERTEX_CUT, err);
		}
		if (!rc && (all || way == MAP_VERTEX_CUT) && (ends <= LARGE_ENDS || way == MAP_VERTEX_CUT))
			rc = try_separator(s, r, err);
		if (!rc && all)
			rc = try_scotch(s, r, err);
	}
	for (unsigned r = 0; r < (ends > LARGE_ENDS ? 1 : 2 * rounds * s->p->site->nclusters) && !rc; r++)
		if (all || small || !ends || !s->any)
			rc = try_grow(s, r, err);
	if (!rc)
		rc = try_kicks(s, err);
	if (!rc && s->cut.n <= MAP_EXACT_RANKS_MAX)
		rc = try_all(s, err);
	return rc;
}

int map_search(const struct map_problem *p, const struct map_search_opts *o, uint8_t *class, map_cost *cost,
	struct zerr *err)
{
	struct search s = {.p = p, .o = o, .best = class};
	int rc = map_cut_create(&s.cut, p, err);

	if (rc)
		return rc;
	s.start = malloc(s.cut.n);
	if (!s.start)
		rc = zerr_set(err, -ENOMEM, "not enough memory");
	splits_make(&s);
	for (unsigned i = 0; i < sizeof(o->from) / sizeof(o->from[0]) && !rc; i++) {
		if (!o->from[i])
			continue;
		memcpy(s.start, o->from[i], s.cut.n);
		if (p->graph->off[s.cut.n] <= LARGE_ENDS || i == 2) {
			rc = search_try(&s, "a layout", err);
		} else { /* it would take long to make something of a bad one */
			map_cut_set(&s.cut, s.start);
			search_keep(&s, "a simple layout");
		}
	}
	if (!rc)
		rc = search_run(&s, err);
	if (!rc && !s.any)
		rc = zerr_set(err, -ENOSPC, "no assignment found that meets all demands");
	*cost = s.least;
	free(s.start);
	map_cut_free(&s.cut);
	return rc;
}
