/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping's search on random graphs. It is never worse than METIS or Scotch called alone, or than the simple
 * layouts. The cost that it keeps is the true cost. A least vertex cover covers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapper/map/map_layout.h"
#include "mapper/search/map_search.h"
#include "mapper/search/map_scotch.h"
#include "mapper/search/map_start.h"
#include "mapper/search/map_state.h"
#include "mapper/search/map_vertexcut.h"
#include "mapper/base/rng.h"
#include "mapper/map/map_place.h"

#define RANKS 300u
#define LARGE 1200u

/* A hostfile, a random graph, and no demands. */
struct bench {
	struct zhostfile hosts;
	struct map_site site;
	struct map_rules rules;
	struct zgraph *traffic;
	struct map_graph graph;
	struct map_problem problem;
};

static void bench_build(struct bench *b, const char *text, uint32_t n, const struct zgraph_edge *list, uint32_t edges)
{
	const struct map_site_opts opts = {.reserve = -1};
	const struct map_wishes none = {.nneed = 0};
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct zerr err = {""};

	assert_non_null(in);
	assert_int_equal(zhostfile_parse(&b->hosts, in, "hosts", &err), 0);
	fclose(in);
	assert_int_equal(zgraph_build(&b->traffic, n, list, edges, false, &err), 0);
	assert_int_equal(map_graph_create(&b->graph, b->traffic, 100, 1, &err), 0);
	assert_int_equal(map_rules_create(&b->rules, n, &none, &err), 0);
	assert_int_equal(map_site_create(&b->site, &b->hosts, &opts, &err), 0);
	b->problem = (struct map_problem){&b->graph, &b->site, &b->rules, 1};
	assert_int_equal(map_rules_apply(&b->rules, &b->site, &none, &err), 0);
}

static void bench_create(struct bench *b, const char *text, uint32_t n, uint32_t edges, uint64_t seed)
{
	struct zgraph_edge *list = calloc(edges, sizeof(*list));

	assert_non_null(list);
	for (uint32_t i = 0; i < edges; i++) {
		uint64_t bits = rng_at(seed, RNG_TEST, 0, i);
		uint32_t u = rng_below((uint32_t)bits, n),
			 far = 1 + rng_below((uint32_t)(bits >> 32), i % 4 ? 12 : n - 1);

		list[i] = (struct zgraph_edge){u, (u + far) % n, 1 + bits % 1000, 1};
	}
	bench_build(b, text, n, list, edges);
	free(list);
}

static void bench_free(struct bench *b)
{
	map_site_free(&b->site);
	map_rules_free(&b->rules);
	map_graph_free(&b->graph);
	zgraph_destroy(b->traffic);
	zhostfile_free(&b->hosts);
}

static const char two[] =
	"#ZIP cluster a\na:160\n#ZIP cluster b\nb:130\nz:20\n#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1\n";
static const char row[] = "#ZIP cluster a\na:100\n#ZIP cluster b\nb:100\ny:8\n#ZIP cluster c\nc:90\nz:6\n"
			  "#ZIP zipper y a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z b=tcp:10.2.0.2 c=tcp:10.3.0.1\n";

/* The cost of a start as the library makes it, only repaired. */
static map_cost cost_alone(struct bench *b, const uint8_t *class)
{
	struct map_state state;
	struct zerr err;
	map_cost cost;

	assert_int_equal(map_state_create(&state, &b->problem, &err), 0);
	map_state_set(&state, class);
	assert_int_equal(map_state_repair(&state, &err), 0);
	cost = state.cost;
	map_state_free(&state);
	return cost;
}

static void compare(const char *hosts, uint32_t n, uint32_t edges, uint64_t seed)
{
	const struct map_search_opts opts = {.strategy = MAP_AUTO, .effort = 1};
	struct map_split split = {{0}};
	struct map_layout layout;
	struct bench b;
	struct zerr err = {""};
	uint8_t class[RANKS], other[RANKS];
	map_cost cost;

	bench_create(&b, hosts, n, edges, seed);
	assert_int_equal(map_search(&b.problem, &opts, class, &cost, &err), 0);
	assert_true(cost == cost_alone(&b, class)); /* it obeys slots, and has the cost that it claims */
	for (uint32_t c = 0; c < b.site.nclusters; c++)
		split.want[c] = n / b.site.nclusters + (c < n % b.site.nclusters);
	assert_int_equal(map_start_pieces(&b.problem, &split, 7, other, &err), 0);
	assert_true(cost <= cost_alone(&b, other));
	if (map_scotch_start(&b.problem, 7, other, &err) == 0)
		assert_true(cost <= cost_alone(&b, other));
	assert_int_equal(map_layout_create(&layout, n, &err), 0);
	assert_int_equal(map_layout_block(&layout, &b.problem, &err), 0);
	assert_true(cost <= map_layout_cost(&layout, &b.problem));
	map_layout_free(&layout);
	assert_int_equal(map_layout_create(&layout, n, &err), 0);
	if (map_layout_pairs(&layout, &b.problem, &err) == 0)
		assert_true(cost <= map_layout_cost(&layout, &b.problem));
	assert_int_equal(map_place_ranks(&layout, &b.problem, class, &err), 0);
	assert_true(map_layout_cost(&layout, &b.problem) == cost);
	assert_int_equal(map_layout_classes(&layout, &b.problem, other, &err), 0);
	map_layout_free(&layout);
	bench_free(&b);
}

static void not_worse_with_two_clusters(void **state)
{
	(void)state;
	compare(two, RANKS, 900, 1);
	compare(two, 290, 3000, 2);
	compare(two, 200, 500, 3);
}

static void not_worse_with_three_in_a_row(void **state)
{
	(void)state;
	compare(row, RANKS, 900, 4);
	compare(row, 280, 2500, 5);
}

/* One seed has one result: Scotch's threads once gave another one in every run. */
static void scotch_repeats(void **state)
{
	static const char hosts[] = "#ZIP cluster a\na:600\n#ZIP cluster b\nb:550\nz:50\n"
				    "#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1\n";
	static uint8_t first[LARGE], again[LARGE];
	struct bench b;
	struct zerr err = {""};

	(void)state;
	bench_create(&b, hosts, LARGE, 6 * LARGE, 6);
	if (map_scotch_start(&b.problem, 7, first, &err) == 0)
		for (int i = 0; i < 5; i++) {
			assert_int_equal(map_scotch_start(&b.problem, 7, again, &err), 0);
			assert_memory_equal(first, again, LARGE);
		}
	bench_free(&b);
}

/* --- small sites: nothing is better in all maps that there are --- */

#define SMALL 8u
#ifdef __SANITIZE_THREAD__ /* 15 times as slow */
#define SMALL_SITES 30u
#else
#define SMALL_SITES 300u
#endif

/* Draws one number below n after the other. */
struct dice {
	uint64_t seed, at;
};

static uint32_t draw(struct dice *d, uint32_t n)
{
	return rng_below((uint32_t)rng_at(d->seed, RNG_TEST, 1, d->at++), n);
}

/* Two to four clusters of one to three slots, one or two zipper nodes with ports on two or more of them. Returns the
 * slots. */
static uint32_t site_draw(struct dice *d, char *text, size_t size)
{
	uint32_t nclusters = 2 + draw(d, 3), nzippers = 1 + draw(d, 2), slots = 0, home[2];
	FILE *f = fmemopen(text, size, "w");

	assert_non_null(f);
	for (uint32_t z = 0; z < nzippers; z++)
		home[z] = draw(d, nclusters);
	for (uint32_t c = 0; c < nclusters; c++) {
		uint32_t n = 1 + draw(d, 3);

		fprintf(f, "#ZIP cluster c%u\nh%u:%u\n", c, c, n);
		slots += n;
		for (uint32_t z = 0; z < nzippers; z++)
			if (home[z] == c) {
				n = 1 + draw(d, 2);
				fprintf(f, "z%u:%u\n", z, n);
				slots += n;
			}
	}
	for (uint32_t z = 0; z < nzippers; z++) {
		uint32_t other = (home[z] + 1 + draw(d, nclusters - 1)) % nclusters;

		fprintf(f, "#ZIP zipper z%u", z);
		for (uint32_t c = 0; c < nclusters; c++)
			if (c == home[z] || c == other || !draw(d, 3))
				fprintf(f, " c%u=tcp:10.%u.0.%u:%u", c, c, z + 1, 1000 + z);
		fputc('\n', f);
	}
	fclose(f);
	return slots;
}

/* All maps of a problem, one after the other. */
struct oracle {
	const struct map_problem *p;
	uint32_t load[MAP_CLASSES_MAX];
	uint8_t class[SMALL];
	map_cost best;
};

static map_cost cost_to_earlier(const struct oracle *o, uint32_t v, uint32_t class)
{
	const struct map_graph *g = o->p->graph;
	const struct map_site *s = o->p->site;
	map_cost cost = 0;

	for (uint64_t e = g->off[v]; e < g->off[v + 1] && g->adj[e] < v; e++) {
		uint32_t other = o->class[g->adj[e]];
		uint64_t far = s->far[class * s->nclasses + other];

		cost += (map_cost)(g->weight[e] * far) << 64;
		if (!far && s->classes[class].fabrics != s->classes[other].fabrics)
			cost += g->weight[e];
	}
	return cost;
}

/* Tries all places of the ranks from v on, where the ranks below v have theirs at this cost. */
static void oracle_place(struct oracle *o, uint32_t v, map_cost cost)
{
	if (v == o->p->graph->n) {
		o->best = o->best < 0 || cost < o->best ? cost : o->best;
		return;
	}
	for (uint32_t c = 0; c < o->p->site->nclasses; c++) {
		if (o->load[c] == o->p->site->classes[c].slots)
			continue;
		o->load[c]++;
		o->class[v] = (uint8_t)c;
		oracle_place(o, v + 1, cost + cost_to_earlier(o, v, c));
		o->load[c]--;
	}
}

static void best_on_small_sites(void **state)
{
	static const uint32_t weights[] = {1000, 1000, 2000, 5000, 9000};
	const struct map_search_opts opts = {.strategy = MAP_AUTO, .effort = 1};
	struct dice d = {.seed = 1};
	unsigned full = 0, worse = 0;

	(void)state;
	for (unsigned i = 0; i < SMALL_SITES; i++) {
		struct zgraph_edge list[SMALL * SMALL];
		struct bench b;
		struct oracle o = {.p = &b.problem, .best = -1};
		struct zerr err = {""};
		char text[1024];
		uint8_t class[SMALL];
		uint32_t slots, n, nedges = 0;
		map_cost cost;

		do
			slots = site_draw(&d, text, sizeof(text));
		while (slots < 3 || slots > SMALL);
		n = draw(&d, 4) ? slots : slots - 1;
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = 0; v < u; v++)
				if (!nedges || draw(&d, 4) <= i % 4)
					list[nedges++] = (struct zgraph_edge){u, v, weights[draw(&d, 5)], 1};
		bench_build(&b, text, n, list, nedges);
		assert_int_equal(map_search(&b.problem, &opts, class, &cost, &err), 0);
		assert_true(cost == cost_alone(&b, class));
		oracle_place(&o, 0, 0);
		assert_true(cost >= o.best);
		full += n == slots;
		worse += cost > o.best;
		if (cost > o.best)
			print_message("%u ranks: bridged %llu, direct %llu; best %llu, %llu:\n%s", n,
				(unsigned long long)map_cost_bridged(cost), (unsigned long long)(uint64_t)cost,
				(unsigned long long)map_cost_bridged(o.best), (unsigned long long)(uint64_t)o.best,
				text);
		bench_free(&b);
	}
	print_message("%u sites, %u of them full: %u not as good as the best of all maps\n", SMALL_SITES, full, worse);
	assert_true(full > SMALL_SITES / 2);
	assert_int_equal(worse, 0);
}

static map_cost search_cost(const struct bench *b, enum map_strategy strategy, unsigned effort, uint64_t seed)
{
	const struct map_search_opts opts = {.strategy = strategy, .effort = effort};
	struct map_problem p = b->problem;
	uint8_t class[RANKS];
	struct zerr err;
	map_cost cost;

	p.seed = seed;
	assert_int_equal(map_search(&p, &opts, class, &cost, &err), 0);
	return cost;
}

/* All strategies together are as good as each alone. More effort is not worse than less. */
static void no_worse_than_its_parts(void **state)
{
	static const char four[] =
		"#ZIP cluster a\na:12\n#ZIP cluster b\nb:12\n#ZIP cluster c\nc:8\n#ZIP cluster d\nd:6\n"
		"x:2\ny:2\nz:2\n#ZIP zipper x a=shm b=shm c=shm d=shm\n"
		"#ZIP zipper y a=shm b=shm c=shm d=shm\n#ZIP zipper z c=shm d=shm\n";

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed += 2) {
		struct bench b;
		map_cost all;

		bench_create(&b, four, 44, 110, seed);
		all = search_cost(&b, MAP_AUTO, 1, seed);
		assert_true(all <= search_cost(&b, MAP_EDGE_CUT, 1, seed));
		assert_true(all <= search_cost(&b, MAP_VERTEX_CUT, 1, seed));
		assert_true(search_cost(&b, MAP_AUTO, 2, seed) <= all);
		assert_true(search_cost(&b, MAP_VERTEX_CUT, 3, seed) <= search_cost(&b, MAP_VERTEX_CUT, 2, seed));
		bench_free(&b);
	}
}

static void cover_covers(void **state)
{
	struct map_split split = {{150, 150}};
	struct bench b;
	struct zerr err;
	uint8_t class[RANKS];

	(void)state;
	bench_create(&b, two, RANKS, 900, 6);
	assert_int_equal(map_start_pieces(&b.problem, &split, 0, class, &err), 0);
	uint32_t border[2] = {0}, taken = 0;
	for (uint32_t v = 0; v < RANKS; v++) {
		bool talks = false;
		for (uint64_t e = b.graph.off[v]; e < b.graph.off[v + 1]; e++)
			talks |= class[b.graph.adj[e]] != class[v];
		border[class[v]] += talks;
	}
	uint32_t z = map_start_between(&b.site, 0, 1);
	assert_int_equal(map_vertexcut_make(&b.problem, 0, 1, z, class, &err), 0);
	for (uint32_t v = 0; v < RANKS; v++) {
		taken += class[v] == z;
		for (uint64_t e = b.graph.off[v]; e < b.graph.off[v + 1]; e++)
			assert_false(class[v] == 0 && class[b.graph.adj[e]] == 1);
	}
	assert_true(taken > 0 && taken <= border[0] && taken <= border[1]); /* either border covers too */
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_worse_with_two_clusters),
		cmocka_unit_test(not_worse_with_three_in_a_row),
		cmocka_unit_test(scotch_repeats),
		cmocka_unit_test(cover_covers),
		cmocka_unit_test(best_on_small_sites),
		cmocka_unit_test(no_worse_than_its_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
