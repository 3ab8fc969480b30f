/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of starts, and the work on each of them. Large graphs get fewer starts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_exact.h"
#include "mapper/search/map_refine.h"
#include "mapper/search/map_scotch.h"
#include "mapper/search/map_search.h"
#include "mapper/search/map_start.h"
#include "mapper/search/map_state.h"
#include "mapper/search/map_vertexcut.h"
#include "mapper/base/rng.h"

#define SPLITS_MAX 8
#define SCOTCH_ENDS_MAX (UINT64_C(4) << 20) /* ends of edges up to which Scotch is tried too */
#define COVER_RANKS_MAX 200000u
#define LARGE_ENDS 16000000u	       /* beyond so many ends of edges, only the most promising starts are tried */
#define KICK_WORK (UINT64_C(40) << 20) /* ends of edges that kicks may look at with effort 1, roughly */
#define KICKS_MAX 2000u
#define EXACT_WORK (UINT64_C(128) << 20) /* prices that the search of all maps may look at with effort 1 */

const char *const map_search_strategies[MAP_STRATEGIES + 1] = {"auto", "pairs", "block", "edge-cut", "vertex-cut",
	"spread", "fastest", "keep", NULL};

/* The best result of the starts of a kind, each refined, and of kicks from there. */
enum kind { ALL, EDGE, VERTEX, KINDS };
#define BIT(kind) (1u << (kind))
struct best {
	uint8_t *class; /* [n] */
	map_cost least;
	bool any;
};

struct search {
	const struct map_problem *p; /* points to own */
	const struct map_search_opts *o;
	struct map_problem own; /* with the seed of this round of the effort */
	uint64_t random;	/* state.random where a start begins: earlier starts do not matter */
	struct map_state state;
	uint8_t *start;
	struct best best[KINDS]; /* of this round: best of all starts, and best of the starts of one strategy */
	unsigned kinds;		 /* bits of the kinds that are kept */
	struct best result;
	struct map_split split[SPLITS_MAX];
	unsigned nsplits;
};

/* --- trying --- */

static bool best_keep(const struct search *s, struct best *b)
{
	if (b->any && s->state.cost >= b->least)
		return false;
	b->any = true;
	b->least = s->state.cost;
	memcpy(b->class, s->state.class, s->state.n);
	return true;
}

/* Keeps the state where it is the best so far. */
static void search_keep(struct search *s, const char *what, unsigned kinds)
{
	for (int k = 0; k < KINDS; k++)
		if (kinds & s->kinds & BIT(k))
			best_keep(s, &s->best[k]);
	if (best_keep(s, &s->result) && s->o->progress)
		s->o->progress(s->o->progress_arg, what, s->result.least);
}

/* Refines s->start. A start that cannot be repaired is dropped. */
static int search_try(struct search *s, const char *what, unsigned kinds, struct zerr *err)
{
	int rc;

	s->state.random = s->random;
	map_state_set(&s->state, s->start);
	rc = map_state_repair(&s->state, err);
	if (rc)
		return rc == -ENOSPC ? 0 : rc;
	rc = map_refine(&s->state, err);
	if (!rc)
		search_keep(s, what, kinds);
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

/* Makes the splits of the ranks among clusters: by the clusters' slots; and filling one cluster after another, from
 * either end. Ranks beyond a cluster's slots will be moved to zipper nodes. */
static void splits_make(struct search *s)
{
	const struct map_site *site = s->p->site;
	uint32_t n = s->state.n, slots[64] = {0};
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

static int try_pieces(struct search *s, const struct map_split *split, unsigned round, struct zerr *err)
{
	int rc = map_start_pieces(s->p, split, round, s->start, err);

	return rc ? rc : search_try(s, "pieces", BIT(ALL), err);
}

/* Tries cuts through zipper nodes, made from pieces, for every pair of clusters with a zipper between them. */
static int try_cuts(struct search *s, const struct map_split *split, unsigned round, bool edge, bool vertex,
	struct zerr *err)
{
	const struct map_site *site = s->p->site;
	int rc = 0;

	for (unsigned kind = 0; kind < 3 && !rc; kind++) {
		if (kind < 2 ? !edge : !vertex || s->state.n > COVER_RANKS_MAX)
			continue;
		rc = map_start_pieces(s->p, split, round, s->start, err);
		for (uint32_t i = 0; i < site->nclusters && !rc; i++)
			for (uint32_t j = 0; j < i && !rc; j++) {
				uint32_t a = map_start_side(site, i), b = map_start_side(site, j);
				uint32_t between = map_start_between(site, i, j);

				if (a == MAP_NONE || b == MAP_NONE || between == MAP_NONE)
					continue;
				if (kind == 2)
					rc = map_vertexcut_make(s->p, a, b, between, s->start, err);
				else
					map_start_border(s->p, kind ? b : a, kind ? a : b, between, s->start);
			}
		if (!rc)
			rc = search_try(s, kind == 2 ? "cover" : "border", BIT(ALL) | BIT(kind == 2 ? VERTEX : EDGE),
				err);
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
	return rc ? rc : search_try(s, "separator", BIT(ALL) | BIT(VERTEX), err);
}

static int try_scotch(struct search *s, unsigned round, struct zerr *err)
{
	int rc;

	if (s->p->graph->off[s->state.n] > SCOTCH_ENDS_MAX || s->p->site->nclasses < 2)
		return 0;
	rc = map_scotch_start(s->p, round, s->start, err);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	return search_try(s, "Scotch", BIT(ALL), err);
}

/* Grows from some rank: a cluster with its zipper nodes first, then the next cluster. */
static int try_grow(struct search *s, unsigned round, unsigned kinds, struct zerr *err)
{
	const struct map_site *site = s->p->site;
	uint32_t order[MAP_CLASSES_MAX], n = 0, first = round % site->nclusters;
	bool in[MAP_CLASSES_MAX] = {false};
	uint32_t from = rng_below((uint32_t)rng_at(s->p->seed, RNG_MAP, 2, round), s->state.n);
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
	return rc ? rc : search_try(s, "growing", kinds, err);
}

/* Disturbs the best of a kind and refines it again, as often as the work allows. */
static int try_kicks(struct search *s, enum kind kind, struct zerr *err)
{
	uint64_t cost = (uint64_t)s->state.n * 8 + s->p->graph->off[s->state.n];
	uint64_t kicks = KICK_WORK / (cost * 4);
	const struct best *b = &s->best[kind];
	int rc = 0;

	kicks = kicks < KICKS_MAX ? kicks : KICKS_MAX;
	s->state.random = s->random;
	for (uint64_t i = 0; i < kicks && !rc && b->any && s->result.least; i++) {
		uint32_t most = s->state.n < MAP_EXACT_RANKS_MAX ? s->state.n : s->state.n / 4 + 1;

		map_state_set(&s->state, b->class);
		rc = map_state_kick(&s->state, 1 + rng_below((uint32_t)rng_at(s->p->seed, RNG_MAP, 3, i), most), err);
		if (rc == -ENOSPC)
			rc = 0;
		else if (!rc && !(rc = map_refine(&s->state, err)))
			search_keep(s, "a kick", BIT(kind));
	}
	return rc;
}

/* Searches all maps of a few ranks. Kicks and moves do not get out of every dead end where nothing is free. A dozen or
 * more ranks that all talk to each other have too many maps: then the best one within the work is the result. */
static int try_all(struct search *s, struct zerr *err)
{
	struct best *b = &s->result;
	map_cost least = b->least;
	const bool any = b->any;
	int rc = map_exact_search(&s->state, EXACT_WORK * s->o->effort, b->class, &b->least, &b->any, err);

	if (rc >= 0 && b->any && (!any || b->least < least) && s->o->progress)
		s->o->progress(s->o->progress_arg, rc ? "some of all maps" : "all maps", b->least);
	return rc < 0 ? rc : 0;
}

/* Tries the layouts that the search is given. */
static int try_layouts(struct search *s, struct zerr *err)
{
	const uint8_t *const *from = s->o->from;
	const bool large = s->p->graph->off[s->state.n] > LARGE_ENDS;
	int rc = 0;

	for (unsigned i = 0; i < sizeof(s->o->from) / sizeof(from[0]) && !rc; i++) {
		unsigned kinds = i == 2 ? ~0u : BIT(ALL);

		if (!from[i])
			continue;
		memcpy(s->start, from[i], s->state.n);
		if (!large || i == 2) {
			rc = search_try(s, "a layout", kinds, err);
		} else { /* improving a bad one would take long */
			map_state_set(&s->state, s->start);
			search_keep(s, "a simple layout", kinds);
		}
	}
	return rc;
}

static int try_starts(struct search *s, bool small, struct zerr *err)
{
	const enum map_strategy way = s->o->strategy;
	const bool all = s->kinds & BIT(ALL);
	const uint64_t ends = s->p->graph->off[s->state.n];
	unsigned rounds = ends > 4000000 ? 1 : ends > 400000 ? 2 : 4;
	int rc = 0;

	/* METIS takes no graph without edges, and does not help with a handful of ranks */
	for (unsigned r = 0; r < rounds && !rc && ends && !small; r++) {
		for (unsigned i = 0; i < (ends > LARGE_ENDS ? 1 : s->nsplits) && !rc; i++) {
			if (all)
				rc = try_pieces(s, &s->split[i], r, err);
			if (!rc && (ends <= LARGE_ENDS || !all))
				rc = try_cuts(s, &s->split[i], r, all || way == MAP_EDGE_CUT,
					all || way == MAP_VERTEX_CUT, err);
		}
		if (!rc && (all || way == MAP_VERTEX_CUT) && (ends <= LARGE_ENDS || way == MAP_VERTEX_CUT))
			rc = try_separator(s, r, err);
		if (!rc && all)
			rc = try_scotch(s, r, err);
	}
	for (unsigned r = 0; r < (ends > LARGE_ENDS ? 1 : 2 * rounds * s->p->site->nclusters) && !rc; r++) {
		unsigned kinds = all ? BIT(ALL) : 0;

		for (int k = 0; k < KINDS; k++)
			kinds |= small || !ends || !s->best[k].any ? BIT(k) : 0;
		if (kinds & s->kinds)
			rc = try_grow(s, r, kinds, err);
	}
	return rc;
}

/* More effort means more rounds, with other seeds. The result is never worse than with less effort. It ends when
 * nothing is left to gain. Each round does what the single strategies would do, too. */
static int search_run(struct search *s, struct zerr *err)
{
	const bool small = s->state.n < 6 * s->p->site->nclusters + 4;
	const uint64_t seed = s->own.seed;
	int rc = 0;

	for (unsigned e = 0; e < s->o->effort && !rc && (!s->result.any || s->result.least); e++) {
		s->own.seed = e ? rng_at(seed, RNG_MAP, 4, e) : seed;
		s->random = (uint64_t)e << 20;
		for (int k = 0; k < KINDS; k++)
			s->best[k].any = false;
		rc = try_layouts(s, err);
		if (!rc)
			rc = try_starts(s, small, err);
		for (int k = 0; k < KINDS && !rc; k++)
			if (s->kinds & BIT(k))
				rc = try_kicks(s, (enum kind)k, err);
	}
	s->own.seed = seed;
	if (!rc && s->state.n <= MAP_EXACT_RANKS_MAX)
		rc = try_all(s, err);
	return rc;
}

static unsigned kinds_choose(const struct map_search_opts *o, uint64_t ends)
{
	if (o->strategy == MAP_EDGE_CUT)
		return BIT(EDGE);
	if (o->strategy == MAP_VERTEX_CUT)
		return BIT(VERTEX);
	return ends > LARGE_ENDS ? BIT(ALL) : BIT(ALL) | BIT(EDGE) | BIT(VERTEX);
}

static int search_create(struct search *s, struct zerr *err)
{
	int rc = map_state_create(&s->state, s->p, err);

	if (rc)
		return rc;
	s->kinds = kinds_choose(s->o, s->p->graph->off[s->state.n]);
	s->start = malloc(s->state.n);
	rc = s->start ? 0 : -ENOMEM;
	for (int k = 0; k < KINDS; k++) {
		s->best[k].class = malloc(s->state.n);
		rc = s->best[k].class ? rc : -ENOMEM;
	}
	splits_make(s);
	return rc ? zerr_set(err, rc, "not enough memory") : 0;
}

static void search_free(struct search *s)
{
	for (int k = 0; k < KINDS; k++)
		free(s->best[k].class);
	free(s->start);
	map_state_free(&s->state);
}

int map_search(const struct map_problem *p, const struct map_search_opts *o, uint8_t *class, map_cost *cost,
	struct zerr *err)
{
	struct search s = {.p = &s.own, .o = o, .own = *p, .result.class = class};
	int rc = search_create(&s, err);

	if (!rc)
		rc = search_run(&s, err);
	if (!rc && !s.result.any)
		rc = zerr_set(err, -ENOSPC, "no assignment found that meets all demands");
	*cost = s.result.least;
	search_free(&s);
	return rc;
}
