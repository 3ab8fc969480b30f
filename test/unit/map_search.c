/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping's search on random graphs: never worse than METIS or Scotch called alone, or than the simple layouts; the
 * cost that it keeps is the cost; a least vertex cover covers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "map_layout.h"
#include "map_search.h"
#include "map_start.h"
#include "rng.h"

#define RANKS 300u
#define LARGE 1200u

/* A hostfile, a graph by chance, and no demands. */
struct bench {
	struct zhostfile hosts;
	struct map_site site;
	struct map_rules rules;
	struct zgraph *traffic;
	struct map_graph graph;
	struct map_problem problem;
};

static void bench_create(struct bench *b, const char *text, uint32_t n, uint32_t edges, uint64_t seed)
{
	const struct map_site_opts opts = {.reserve = -1};
	const struct map_wishes none = {.nneed = 0};
	struct zgraph_edge *list = calloc(edges, sizeof(*list));
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct zerr err = {""};

	assert_non_null(list);
	assert_non_null(in);
	assert_int_equal(zhostfile_parse(&b->hosts, in, "hosts", &err), 0);
	fclose(in);
	for (uint32_t i = 0; i < edges; i++) {
		uint64_t bits = rng_at(seed, RNG_TEST, 0, i);
		uint32_t u = rng_below((uint32_t)bits, n),
			 far = 1 + rng_below((uint32_t)(bits >> 32), i % 4 ? 12 : n - 1);

		list[i] = (struct zgraph_edge){u, (u + far) % n, 1 + bits % 1000, 1};
	}
	assert_int_equal(zgraph_build(&b->traffic, n, list, edges, false, &err), 0);
	free(list);
	assert_int_equal(map_graph_create(&b->graph, b->traffic, 100, 1, &err), 0);
	assert_int_equal(map_rules_create(&b->rules, n, &none, &err), 0);
	assert_int_equal(map_site_create(&b->site, &b->hosts, &opts, &err), 0);
	b->problem = (struct map_problem){&b->graph, &b->site, &b->rules, 1};
	assert_int_equal(map_rules_apply(&b->rules, &b->site, &none, &err), 0);
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

/* A start as it comes from the library, made to fit and no more. */
static map_cost cost_alone(struct bench *b, const uint8_t *class)
{
	struct map_cut cut;
	struct zerr err;
	map_cost cost;

	assert_int_equal(map_cut_create(&cut, &b->problem, &err), 0);
	map_cut_set(&cut, class);
	assert_int_equal(map_cut_repair(&cut, &err), 0);
	cost = cut.cost;
	map_cut_free(&cut);
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
	assert_true(cost == cost_alone(&b, class)); /* obeys slots, and costs what it says */
	for (uint32_t c = 0; c < b.site.nclusters; c++)
		split.want[c] = n / b.site.nclusters + (c < n % b.site.nclusters);
	assert_int_equal(map_start_parts(&b.problem, &split, 7, other, &err), 0);
	assert_true(cost <= cost_alone(&b, other));
	if (map_start_scotch(&b.problem, 7, other, &err) == 0)
		assert_true(cost <= cost_alone(&b, other));
	assert_int_equal(map_layout_create(&layout, n, &err), 0);
	assert_int_equal(map_layout_block(&layout, &b.problem, &err), 0);
	assert_true(cost <= map_layout_cost(&layout, &b.problem));
	map_layout_free(&layout);
	assert_int_equal(map_layout_create(&layout, n, &err), 0);
	if (map_layout_pairs(&layout, &b.problem, &err) == 0)
		assert_true(cost <= map_layout_cost(&layout, &b.problem));
	assert_int_equal(map_layout_place(&layout, &b.problem, class, &err), 0);
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

/* A seed is a result: Scotch's threads once made another one in every run. */
static void scotch_repeats(void **state)
{
	static const char hosts[] = "#ZIP cluster a\na:600\n#ZIP cluster b\nb:550\nz:50\n"
				    "#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1\n";
	static uint8_t first[LARGE], again[LARGE];
	struct bench b;
	struct zerr err = {""};

	(void)state;
	bench_create(&b, hosts, LARGE, 6 * LARGE, 6);
	if (map_start_scotch(&b.problem, 7, first, &err) == 0)
		for (int i = 0; i < 5; i++) {
			assert_int_equal(map_start_scotch(&b.problem, 7, again, &err), 0);
			assert_memory_equal(first, again, LARGE);
		}
	bench_free(&b);
}

static void cover_covers(void **state)
{
	struct map_split split = {{150, 150}};
	struct bench b;
	struct zerr err;
	uint8_t class[RANKS];

	(void)state;
	bench_create(&b, two, RANKS, 900, 6);
	assert_int_equal(map_start_parts(&b.problem, &split, 0, class, &err), 0);
	uint32_t border[2] = {0}, taken = 0;
	for (uint32_t v = 0; v < RANKS; v++) {
		bool talks = false;
		for (uint64_t e = b.graph.off[v]; e < b.graph.off[v + 1]; e++)
			talks |= class[b.graph.adj[e]] != class[v];
		border[class[v]] += talks;
	}
	uint32_t z = map_start_between(&b.site, 0, 1);
	assert_int_equal(map_start_cover(&b.problem, 0, 1, z, class, &err), 0);
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
