/* SPDX-License-Identifier: BSD-3-Clause */
/* zmpirun reads a placement map: parts, hosts, numbers, bindings and ports. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/plan/plan.h"

static const char hosts_text[] = "#ZIP cluster a\n"
				 "h1:2 binding=core user=me\n"
				 "#ZIP cluster b\n"
				 "h2:2\n"
				 "z1:4\n"
				 "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1:7000\n"
				 "#ZIP cluster c\n"
				 "h3\n";

static char map_path[64];

static void write_map(const char *text)
{
	FILE *out = fopen(map_path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* Writes "a: h1x2[0+1,4] 10.1.0.1x1 = 0 1 5 (2-2 a=... b=...;) b: ...". */
static void describe(const struct zplan *plan, char *out, size_t cap)
{
	int n = 0;
	for (int i = 0; i < plan->nparts; i++) {
		const struct zplan_part *part = &plan->parts[i];
		n += snprintf(out + n, cap - (size_t)n, "%s%s:", i ? " " : "", part->name);
		for (int h = 0; h < part->nhosts; h++)
			n += snprintf(out + n, cap - (size_t)n, " %sx%d%s%s%s",
				part->hosts[h].name ? part->hosts[h].name : "-", part->hosts[h].nranks,
				part->hosts[h].binding ? "[" : "", part->hosts[h].binding ? part->hosts[h].binding : "",
				part->hosts[h].binding ? "]" : "");
		n += snprintf(out + n, cap - (size_t)n, " =");
		for (int l = 0; l < part->nranks; l++)
			n += snprintf(out + n, cap - (size_t)n, " %d", zplan_vrank(part, l));
		if (part->ports)
			n += snprintf(out + n, cap - (size_t)n, " (%s)", part->ports);
	}
}

static int make(struct zplan *plan, const char *line, struct zhostfile *hosts, char *got, size_t cap, struct zerr *err)
{
	struct zoptions o;
	char text[256], *words[32] = {"zmpirun"}, *rest;
	int n = 1;
	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[n++] = strcmp(word, "MAP") == 0 ? map_path : word;
	int rc = zoptions_parse(&o, n, words, err);
	if (rc == 0)
		rc = zplan_make(plan, &o, o.hostfile ? hosts : NULL, err);
	if (rc == 0)
		describe(plan, got, cap);
	zoptions_free(&o);
	return rc;
}

static const struct {
	const char *line, *map, *plan;
} good[] = {
	{"-f h --map MAP p", "0-1 h1\n2-3 h2\n", "a: h1x2 = 0 1 b: h2x2 = 2 3"},
	/* hosts in the order of their lowest ranks */
	{"-f h -n 4 --map MAP p", "3 h1\n0 z1 a\n1,2 h2\n",
		"a: 10.1.0.1x1 h1x1 = 0 3 (0-0 a=tcp:10.1.0.1:0 "
		"b=tcp:10.2.0.1:0;) b: h2x2 = 1 2"},
	{"-f h --map MAP p", "0 z1 a\n1 z1 b\n2 z1\n3 z1 a\n4 h3\n",
		"a: 10.1.0.1x2 = 0 3 (0-1 a=tcp:10.1.0.1:0 "
		"b=tcp:10.2.0.1:0;) b: 10.2.0.1x2 = 1 2 (0-1 a=tcp:10.1.0.1:0 b=tcp:10.2.0.1:0;) c: h3x1 = 4"},
	{"-f h --map MAP p", "0 h1 a 0-1\n1 h1 a 4\n2 h2 - 3\n3 z1\n",
		"a: h1x2[0+1,4] = 0 1 b: h2x1[3] 10.2.0.1x1 = 2 3 (1-1 a=tcp:10.1.0.1:0 b=tcp:10.2.0.1:0;)"},
	{"-f h --oversubscribe --map MAP p", "0-4 h1\n", "a: h1x5 = 0 1 2 3 4"},
	{"--clusters 2 --map MAP p", "0,3 c2\n1 c1\n2 zipper\n4 zipper c2\n",
		"c1: -x1 -x1 = 1 2 (1-1 c1=shm c2=shm;) c2: -x2 -x1 = 0 3 4 (2-2 c1=shm c2=shm;)"},
	/* without a map, Hydra places the ranks */
	{"-f h p", "",
		"a: h1x2 = 0 1 b: h2x2 10.2.0.1x4 = 2 3 4 5 6 7 (2-5 a=tcp:10.1.0.1:0 b=tcp:10.2.0.1:0;) c: h3x1 = 8"},
	{"-f h -n 13 p", "",
		"a: h1x2 = 0 1 2 3 b: h2x2 10.2.0.1x4 = 4 5 6 7 8 9 10 11 (2-5 a=tcp:10.1.0.1:0 "
		"b=tcp:10.2.0.1:0;) c: h3x1 = 12"},
	{"-f h -ppn 1 p", "",
		"a: h1x2 = 0 b: h2x2 10.2.0.1x4 = 1 2 (1-1 a=tcp:10.1.0.1:0 b=tcp:10.2.0.1:0;) c: h3x1 = 3"},
};

static struct zhostfile hosts;

static void places_ranks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct zplan plan;
		struct zerr err = {{0}};
		char got[1024];
		write_map(good[i].map);
		if (make(&plan, good[i].line, &hosts, got, sizeof(got), &err) != 0)
			fail_msg("%s: %s", good[i].map, err.text);
		assert_string_equal(got, good[i].plan);
		zplan_free(&plan);
	}
}

/* Hydra cannot write an IPv6 address, so the host goes by its name there. On wan there is no rank to be linked to. */
static void names_hosts_for_hydra(void **state)
{
	static const char text[] = "#ZIP cluster a\nh1\n#ZIP cluster b\nz\nh2\n"
				   "#ZIP zipper z a=tcp:10.1.0.1 wan=tcp:10.9.0.1 b=tcp:[fd00::2]:7000\n"
				   "#ZIP zipper y wan=tcp:10.9.0.2 b=tcp:10.2.0.9\n";
	struct zhostfile six;
	struct zplan plan;
	struct zerr err = {{0}};
	char got[1024];
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	(void)state;
	assert_int_equal(zhostfile_parse(&six, in, "h", &err), 0);
	fclose(in);
	assert_int_equal(make(&plan, "-f h p", &six, got, sizeof(got), &err), 0);
	assert_string_equal(got, "a: h1x1 = 0 b: zx1 h2x1 = 1 2 (0-0 a=tcp:10.1.0.1:0 b=tcp:[fd00::2]:0;)");
	zplan_free(&plan);
	zhostfile_free(&six);
}

/* Cores are kept by the zippers' lines. With --clusters there is one zipper, whose name is "zipper". */
static void keeps_cores(void **state)
{
	struct zplan plan;
	struct zerr err = {{0}};
	char got[1024];
	(void)state;
	write_map("#ZIP z1: cores 4,6 are kept for zipperd, near mlx5_0\n#ZIP zipper: cores 7 are kept for zipperd\n"
		  "0 h1\n1 h2\n");
	assert_int_equal(make(&plan, "-f h --map MAP p", &hosts, got, sizeof(got), &err), 0);
	assert_string_equal(zplan_kept(&plan, 0), "4,6");
	zplan_free(&plan);
	write_map("#ZIP zipper: cores 7 are kept for zipperd\n0 c1\n1 c2\n");
	assert_int_equal(make(&plan, "--clusters 2 --map MAP p", &hosts, got, sizeof(got), &err), 0);
	assert_string_equal(zplan_kept(&plan, -1), "7");
	zplan_free(&plan);
	write_map("0 h1\n1 h2\n");
	assert_int_equal(make(&plan, "-f h --map MAP p", &hosts, got, sizeof(got), &err), 0);
	assert_null(zplan_kept(&plan, 0));
	zplan_free(&plan);
}

static void tells_zipperd(void **state)
{
	static const struct zctl_run expected[] = {{0, 2, 1, 0}, {2, 1, 0, 1}, {3, 1, 0, 0}, {4, 1, 0, 2}};
	struct zplan plan;
	struct zerr err = {{0}};
	struct zctl_run *runs;
	uint32_t nruns;
	(void)state;
	/* a: lranks 0, 1, 2 are vranks 3, 2, 4 */
	uint32_t in_a[] = {3, 2, 4}, in_b[] = {0, 1};
	memset(&plan, 0, sizeof(plan));
	plan.nparts = 2;
	plan.nranks = 5;
	plan.mapped = true;
	plan.parts[0].nranks = 3;
	plan.parts[0].vranks = in_a;
	plan.parts[1].nranks = 2;
	plan.parts[1].vranks = in_b;
	assert_int_equal(zplan_make_runs(&plan, &runs, &nruns, &err), 0);
	assert_int_equal(nruns, 4);
	assert_memory_equal(runs, expected, sizeof(expected));
	free(runs);
	plan.mapped = false;
	assert_int_equal(zplan_make_runs(&plan, &runs, &nruns, &err), 0);
	assert_int_equal(nruns, 0);
	assert_null(runs);
}

static const struct {
	const char *line, *map, *error; /* %s: the map's path */
} bad[] = {
	{"-f h -n 3 --map MAP p", "0-1 h1\n2-3 h2\n", "%s has 4 ranks, but -n says 3"},
	{"-f h --map MAP p", "0-2 h1\n", "%s:1: rank 2 is one too many for node h1, which has 2 slots"},
	{"-f h --map MAP p", "0 h1\n1 h4\n", "%s:2: node h4 is no host of h (did you mean h1?)"},
	{"-f h --map MAP p", "0 h1 - 0\n1 h1\n", "%s:2: of the ranks on h1 some are bound to cores and some are not"},
	{"-f h --map MAP p", "0 h1 - 0-65535\n", "%s:1: the cores 0-65535 are too many for mpiexec"},
	{"-f h -bind-to core --map MAP p", "0 h1 - 0\n1 h2\n",
		"the map binds ranks to cores, and so do -bind-to and -map-by"},
	{"--clusters 2,2 --map MAP p", "0 c1\n", "--clusters 2,2: with --map only the number of clusters"},
	{"--clusters 2 --map MAP p", "0 c1\n1 c3\n", "%s:2: node c3 is no host of --clusters (did you mean c1?)"},
	{"--clusters 2 --map MAP p", "0 c1 - 0\n1 zipper\n2 c2\n",
		"%s: of the ranks of cluster c1 some are bound to cores and some are not"},
};

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zplan plan = {0};
		struct zerr err = {{0}};
		char got[1024], expected[256];
		write_map(bad[i].map);
		assert_true(make(&plan, bad[i].line, &hosts, got, sizeof(got), &err) < 0);
		const char *at = strstr(bad[i].error, "%s");
		snprintf(expected, sizeof(expected), "%s%s", at ? map_path : "", at ? at + 2 : bad[i].error);
		assert_string_equal(err.text, expected);
		zplan_free(&plan);
	}
}

static int set_up(void **state)
{
	struct zerr err = {{0}};
	(void)state;
	snprintf(map_path, sizeof(map_path), "/tmp/zip-mapping.XXXXXX");
	int fd = mkstemp(map_path);
	if (fd < 0)
		return -1;
	close(fd);
	FILE *in = fmemopen((void *)(uintptr_t)hosts_text, strlen(hosts_text), "r");
	int rc = zhostfile_parse(&hosts, in, "h", &err);
	fclose(in);
	return rc;
}

static int tear_down(void **state)
{
	(void)state;
	zhostfile_free(&hosts);
	return unlink(map_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_ranks),
		cmocka_unit_test(names_hosts_for_hydra),
		cmocka_unit_test(keeps_cores),
		cmocka_unit_test(tells_zipperd),
		cmocka_unit_test(refuses),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
