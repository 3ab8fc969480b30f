/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of patterns, the placements of their ranks, and descriptions and files that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "test/unit/within.h"
#include "mapper/net/topology.h"
#include "mapper/traffic/pattern_graph.h"
#include "mapper/net/net.h"
#include "mapper/traffic/pattern.h"
#include "mapper/model/job_placement.h"
#include "mapper/model/workload.h"

static struct pattern *pattern_of(const char *text, uint32_t ranks)
{
	struct spec_list l;
	struct pattern *p;
	struct zerr err = {""};

	assert_int_equal(spec_parse(&l, text, "test", false, &err), 0);
	if (pattern_create(&l.specs[0], ranks, 1, &p, &err))
		fail_msg("%s", err.text);
	spec_free(&l);
	return p;
}

static uint32_t messages_of(const struct pattern *p, uint32_t rank, struct traffic_message *out)
{
	return p->source.messages(p->source.arg, rank, out);
}

/* 6 to 20 different partners, near or anywhere, never the rank itself. Every number of partners happens. */
static void random_partners(void **state)
{
	static const char *const texts[] = {"umesh", "spread"};
	struct traffic_message out[64];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct pattern *p = pattern_of(texts[k], 1000);
		unsigned seen[21] = {0};

		assert_int_equal(p->source.unit, 512 * 1024);
		for (uint32_t r = 0; r < 1000; r++) {
			uint32_t n = messages_of(p, r, out);

			assert_within(n, 6, 20);
			seen[n]++;
			for (uint32_t i = 0; i < n; i++) {
				assert_true(out[i].dst < 1000 && out[i].dst != r && out[i].units == 1);
				if (k == 0)
					assert_within(out[i].dst + 30, r, r + 60);
				for (uint32_t j = 0; j < i; j++)
					assert_int_not_equal(out[i].dst, out[j].dst);
			}
		}
		for (int n = 6; n <= 20; n++)
			assert_within(seen[n], 30,
				110); /* 66 are expected; the limits are five standard deviations away */
		pattern_destroy(p);
	}
}

static void stencils(void **state)
{
	struct pattern *p = pattern_of("2d:3x4", 12);
	struct traffic_message out[8];

	(void)state;
	assert_int_equal(messages_of(p, 5, out), 4);
	assert_int_equal(out[0].dst, 4);
	assert_int_equal(out[1].dst, 6);
	assert_int_equal(out[2].dst, 1);
	assert_int_equal(out[3].dst, 9);
	assert_int_equal(messages_of(p, 0, out), 4); /* around the edges */
	assert_int_equal(out[0].dst, 3);
	assert_int_equal(out[2].dst, 8);
	pattern_destroy(p);
	p = pattern_of("2d:3x4 periodic:no", 12);
	assert_int_equal(messages_of(p, 0, out), 2);
	pattern_destroy(p);
	p = pattern_of("4d", 8847360); /* Table I, section V.C: 1, 48, 2,304 and 110,592 ranks away */
	assert_int_equal(p->dims[0], 80);
	assert_int_equal(messages_of(p, 4000000, out), 8);
	assert_int_equal(out[1].dst, 4000001);
	assert_int_equal(out[3].dst, 4000048);
	assert_int_equal(out[5].dst, 4002304);
	assert_int_equal(out[7].dst, 4110592);
	pattern_destroy(p);
}

static void many_to_many(void **state)
{
	struct pattern *p = pattern_of("m2m", 8847360);
	struct traffic_message out[128];

	(void)state;
	assert_int_equal(p->dims[0], 180);
	assert_int_equal(messages_of(p, 400, out), 127); /* y = 1 */
	assert_int_equal(out[0].dst, 16);
	assert_int_equal(out[1].dst, 400 + 384);
	assert_int_equal(out[126].dst, 16 + 127 * 384);
	pattern_destroy(p);
}

/* Random placements are permutations of whole blocks; round robin deals to the groups. */
static void placements(void **state)
{
	struct zerr err = {""};
	struct net *net;
	uint32_t order[5 * 2 * 3 * 2];

	(void)state;
	assert_int_equal(topology_create("dragonfly group:5 chassis:2 router:3 node:2", &net, &err), 0);
	for (const struct job_placement *p = job_placement_table; p->name; p++) {
		uint32_t block = net->level[p->block], moved = 0;
		bool seen[60] = {false};

		p->order(p, net, 1, order);
		for (uint32_t i = 0; i < 60; i++) {
			assert_true(order[i] < 60 && !seen[order[i]]);
			seen[order[i]] = true;
			moved += order[i] != i;
			assert_int_equal(order[i] % block, i % block);
			assert_int_equal(order[i] / block, order[i / block * block] / block);
		}
		assert_int_equal(moved > 0, strcmp(p->name, "LIN") != 0);
	}
	job_placement_find("rrn")->order(job_placement_find("RRN"), net, 1, order);
	assert_int_equal(order[1], 12);
	assert_int_equal(order[5], 1);
	job_placement_find("RRR")->order(job_placement_find("RRR"), net, 1, order);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 12);
	assert_int_equal(order[10], 2);
	net_destroy(net);
}

/* Table II: shares, and pieces that follow each other. */
static void table_two(void **state)
{
	static const unsigned share[4][5] = {{20, 10, 40, 20, 10}, {10, 10, 20, 40, 20}, {20, 40, 10, 10, 20},
		{40, 10, 20, 20, 10}};
	struct zerr err = {""};
	struct net *net;

	(void)state;
	assert_int_equal(topology_create("paper", &net, &err), 0);
	for (int k = 0; k < 4; k++) {
		struct workload w;
		struct spec_list l;
		uint32_t at = 0;

		assert_int_equal(spec_parse(&l, workload_preset((const char[]){(char)('1' + k), 0}), "test", false,
					 &err),
			0);
		if (workload_create(&w, net, &l, 1, false, &err))
			fail_msg("%s", err.text);
		assert_int_equal(w.njobs, 5);
		for (int j = 0; j < 5; j++) {
			assert_int_equal(w.jobs[j].first, at);
			assert_int_equal(w.jobs[j].nodes,
				net->nodes / 100 * share[k][j] + net->nodes % 100 * share[k][j] / 100);
			assert_int_equal(w.jobs[j].pattern->source.ranks, w.jobs[j].nodes * 24);
			at += w.jobs[j].nodes;
		}
		workload_free(&w);
		spec_free(&l);
	}
	net_destroy(net);
}

/* --- files --- */

static char path[] = "/tmp/zipmodel-XXXXXX";

static const char *file_with(const char *text)
{
	FILE *f;

	strcpy(path, "/tmp/zipmodel-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

static void graph_good(void **state)
{
	struct zerr err = {""};
	struct pattern_edges *g;

	(void)state;
	/* a path of three vertices, weights 5 and 7; comments, a vertex weight */
	assert_int_equal(pattern_graph_read(&g, file_with("% a comment\n3 2 011\n1 2 5\n1 1 5 3 7\n% another\n1 2 7\n"),
				 &err),
		0);
	unlink(path);
	assert_int_equal(g->ranks, 3);
	assert_int_equal(g->edges, 4);
	assert_int_equal(g->degree, 2);
	assert_int_equal(g->edge[g->off[1]].dst, 0);
	assert_int_equal(g->edge[g->off[1] + 1].units, 7);
	pattern_graph_destroy(g);
	assert_int_equal(pattern_graph_read(&g,
				 file_with("%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 3\n"
					   "2 1 5e9\n3 3 1\n3 2 2.6\n"),
				 &err),
		0);
	unlink(path);
	assert_int_equal(g->edges,
		6); /* 5e9 does not fit into 32 bits: two messages, twice; the diagonal is no message */
	assert_true((uint64_t)g->edge[0].units + g->edge[1].units == 5000000000);
	assert_int_equal(g->edge[g->off[2]].units, 3);
	pattern_graph_destroy(g);
}

/* Items know how many messages they sum, up to 255. A pair with too many bytes for one item has several. */
static void messages_are_counted(void **state)
{
	static const uint64_t large = (UINT64_C(1) << 32) + 6;
	uint32_t src[310] = {0}, dst[310];
	uint64_t bytes[310];
	struct traffic t;
	struct zerr err = {""};
	const struct traffic_chunk *c;

	(void)state;
	for (size_t i = 0; i < 310; i++) {
		dst[i] = i < 2 ? 1 : i < 302 ? 2 : 3;
		bytes[i] = i < 309 ? i % 7 : large;
	}
	assert_int_equal(traffic_build_list(&t, 4, 310, src, dst, bytes, &err), 0);
	c = t.chunks;
	assert_int_equal(c->off[1], 4);
	assert_int_equal(c->items[0].dst, 3); /* full items come first */
	assert_int_equal(c->items[0].units, UINT32_MAX);
	assert_int_equal(c->messages[0], 6); /* 7 before it, one of them empty */
	assert_int_equal(c->messages[1], 1); /* one of the two is empty */
	assert_int_equal(c->messages[2], 255);
	assert_int_equal(c->items[3].dst, 3);
	assert_true(c->messages[3] > 0);
	traffic_free(&t);
}

static void graph_refused(void **state)
{
	static const struct {
		const char *text, *where;
	} bad[] = {
		{"", ":1: "},
		{"three 2\n", ":1: "},
		{"3 2 5\n", ":1: "},
		{"3 2\n2\n1 4\n2\n", ":3: "},
		{"3 2\n2\n1 3\n", ":3: "},
		{"3 3\n2\n1 3\n2\n", ":4: "},
		{"3 2\n2\n1 3\n2\n1\n", ":5: "},
		{"3 2\n1\n1 3\n2\n", ":2: "},
		{"3 2 1\n2\n1 1 3 1\n2 1\n", ":2: "},
		{"%%MatrixMarket matrix array real general\n3 3\n", ":1: "},
		{"%%MatrixMarket matrix coordinate complex general\n3 3 0\n", ":1: "},
		{"%%MatrixMarket matrix coordinate real general\n3 4 0\n", ":2: "},
		{"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 -1\n", ":3: "},
		{"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 4 1\n", ":3: "},
		{"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1 1\n", ":3: "},
		{"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n", ":3: "},
		{"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n1 3 1\n", ":4: "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zerr err = {""};
		struct pattern_edges *g;
		int rc = pattern_graph_read(&g, file_with(bad[i].text), &err);

		unlink(path);
		if (!rc)
			fail_msg("read: %s", bad[i].text);
		if (strncmp(err.text, path, strlen(path)) ||
			strncmp(err.text + strlen(path), bad[i].where, strlen(bad[i].where)))
			fail_msg("%s gives %s", bad[i].text, err.text);
	}
}

static void networks_refused(void **state)
{
	static const struct {
		const char *text, *part;
	} bad[] = {
		{"dragonfly group:0", "group: \"0\" is not a number from 1"},
		{"dragonfly groups:5", "\"groups\" is unknown"},
		{"dragonfly group:5 group:6", "twice"},
		{"dragonfly wiring:random", "none of modulo"},
		{"dragonfly group:65535 chassis:4096 router:4096", "out of range"},
		{"fattree arity:4 taper:3", "does not divide"},
		{"fattree down:4x4 up:1", "same number of levels"},
		{"fattree down:4y4 up:1x1", "joined by 'x'"},
		{"hypercube dim:4", "is no topology"},
		{"/nonexistent/network", "No such file"},
		{"part:A crossbar", "nothing to be joined with"},
		{"part:A crossbar; part:B crossbar", "do not join all parts"},
		{"part:A crossbar; part:A crossbar", "a second part"},
		{"part:A crossbar; part:B crossbar; zipper:z A:1", "two parts or more"},
		{"part:A crossbar; part:B crossbar; zipper:z A:1 B:16", "from 0 to 15"},
		{"part:A crossbar; part:B crossbar; zipper:z A:1 B:1 C:1", "\"C\" is unknown"},
		{"part:A crossbar; part:B crossbar core:2; zipper:z A:1 B:1", "different cores"},
		{"crossbar node:2; crossbar node:3", "one network is enough"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zerr err = {""};
		struct net *net;

		if (!topology_create(bad[i].text, &net, &err))
			fail_msg("created: %s", bad[i].text);
		if (!strstr(err.text, bad[i].part))
			fail_msg("%s gives %s", bad[i].text, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_partners),
		cmocka_unit_test(stencils),
		cmocka_unit_test(many_to_many),
		cmocka_unit_test(placements),
		cmocka_unit_test(table_two),
		cmocka_unit_test(graph_good),
		cmocka_unit_test(messages_are_counted),
		cmocka_unit_test(graph_refused),
		cmocka_unit_test(networks_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
