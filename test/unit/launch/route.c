/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers of a hostfile that could carry a job, their order, and the key that the job takes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "launch/start/railset.h"
#include "common/control/ctl_name.h"

#define CLUSTERS "#ZIP cluster a\na1\n#ZIP cluster b\nb1\n#ZIP cluster c\nc1\n"
#define TEXT_BYTES sizeof(((struct zerr *)NULL)->text)
#define ELSEWHERE "192.0.2.1" /* an address for documentation, which nobody has (RFC 5737) */

static void parse(struct zhostfile *hosts, const char *zippers)
{
	char text[2048];
	struct zerr err = {{0}};
	snprintf(text, sizeof(text), "%s%s", CLUSTERS, zippers);
	FILE *in = fmemopen(text, strlen(text), "r");
	if (zhostfile_parse(hosts, in, "hosts", &err) < 0)
		fail_msg("%s: %s", zippers, err.text);
	fclose(in);
}

/* A job with a rank in each cluster that is named. */
static void make_plan(struct zplan *plan, const char *names)
{
	memset(plan, 0, sizeof(*plan));
	snprintf(plan->names, sizeof(plan->names), "%s", names);
	plan->nparts = zctl_name_split_parts(names, NULL, ZCTL_PARTS_MAX);
	char name[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	zctl_name_split_parts(names, name, ZCTL_PARTS_MAX);
	for (int i = 0; i < plan->nparts; i++)
		memcpy(plan->parts[i].name, name[i], sizeof(name[i]));
}

/* Writes "z1 z2!": the routes in their order; '*': ours to start, '!': it cannot be used. Or writes the error. */
static const char *describe(const struct zplan *plan, const struct zhostfile *hosts, int wanted, char text[TEXT_BYTES])
{
	struct zroute *routes;
	struct zerr err = {{0}};
	struct zhostways ways;
	int n = zroute_find(&routes, &ways, plan, hosts, wanted, &err);
	*text = '\0';
	if (n < 0)
		snprintf(text, TEXT_BYTES, "%s", err.text);
	for (int i = 0; i < n; i++)
		snprintf(text + strlen(text), TEXT_BYTES - strlen(text), "%s%s%s", i ? " " : "", routes[i].name,
			routes[i].rc	  ? "!"
			: routes[i].start ? "*"
					  : "");
	zhostways_free(&ways);
	free(n < 0 ? NULL : routes);
	return text;
}

static const char mixed[] = "#ZIP zipper z1 a=tcp:" ELSEWHERE ":1 b=tcp:" ELSEWHERE ":2 c=tcp:" ELSEWHERE ":3\n"
			    "#ZIP zipper z2 b=tcp:127.0.0.1 a=tcp:127.0.0.1\n"
			    "#ZIP zipper z3 b=tcp:127.0.0.1:9 c=tcp:127.0.0.1:9\n"
			    "#ZIP zipper z4 a=tcp:127.0.0.1 b=tcp:" ELSEWHERE "\n"
			    "#ZIP zipper z5 a=shm b=shm:/x c=shm\n";

static const struct {
	const char *zippers, *parts;
	int wanted;
	const char *routes;
} cases[] = {
	{mixed, "a,b", 0, "z1 z2* z4! z5"},
	{mixed, "b,a", 4, "z1 z2* z4! z5"},
	{mixed, "b,c", 0, "z1 z3 z5"},
	{mixed, "a,b,c", 0, "z1 z5"},
	{mixed, "a,b,c", 1, "z1 z5"},
	{mixed, "a,b,c", 3, "hosts: --rails 3, but only 2 #ZIP zipper lines serve all of the clusters a,b,c"},
	{"#ZIP zipper z a=shm b=shm\n", "a,b", 2,
		"hosts: --rails 2, but only 1 #ZIP zipper line serves all of the clusters a,b"},
	{"#ZIP zipper z a=shm b=shm\n", "a,c", 0,
		"hosts: no #ZIP zipper line serves all of the clusters a,c, nor do several lead from a to c"},
	/* where no zipper joins all clusters: those that join them together */
	{"#ZIP zipper x a=shm b=shm\n#ZIP zipper y b=shm c=shm:/y\n#ZIP zipper z w=shm b=shm\n#ZIP zipper v w=shm "
	 "c=tcp:" ELSEWHERE "\n",
		"a,b,c", 0, "x* y z* v!"},
	{"#ZIP zipper x a=shm b=shm\n#ZIP zipper y b=shm c=shm\n", "a,b,c", 2,
		"hosts: --rails 2, but no #ZIP zipper line serves all of the clusters a,b,c, and all zippers "
		"between them are needed"},
	{"#ZIP zipper z a=shm b=shm\n#ZIP zipper y a=shm b=shm\n#ZIP zipper z a=shm c=shm\n", "a,b", 0,
		"z (line 7)* y*"},
};

static void finds_them_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zhostfile hosts;
		struct zplan plan;
		char text[TEXT_BYTES];
		parse(&hosts, cases[i].zippers);
		make_plan(&plan, cases[i].parts);
		assert_string_equal(describe(&plan, &hosts, cases[i].wanted, text), cases[i].routes);
		zhostfile_free(&hosts);
	}
}

static void knows_where_and_why(void **state)
{
	struct zhostfile hosts;
	struct zplan plan;
	struct zroute *routes;
	struct zhostways ways;
	struct zerr err = {{0}};
	(void)state;
	parse(&hosts, mixed);
	make_plan(&plan, "b,a"); /* addresses are in the order of the parts */
	assert_int_equal(zroute_find(&routes, &ways, &plan, &hosts, 0, &err), 4);
	assert_false(ways.hops);
	assert_string_equal(routes[0].port[0].addr.host, ELSEWHERE);
	assert_int_equal(routes[0].port[0].addr.port, 2);
	assert_int_equal(routes[0].port[1].addr.port, 1);
	assert_int_equal(routes[1].port[0].addr.port, 0); /* the kernel chooses it */
	assert_int_equal(routes[2].rc, -EADDRNOTAVAIL);
	assert_string_equal(routes[2].why.text,
		"hosts:10: " ELSEWHERE " is not an address of this machine: zmpirun cannot start zipperd there; "
		"write the port of one that runs (b=tcp:" ELSEWHERE ":7474)");
	free(routes);
	zhostfile_free(&hosts);
}

static void makes_its_own(void **state)
{
	struct zplan plan;
	char text[TEXT_BYTES];
	(void)state;
	make_plan(&plan, "c1,c2");
	assert_string_equal(describe(&plan, NULL, 0, text), "1*");
	assert_string_equal(describe(&plan, NULL, 3, text), "1* 2* 3*");
}

static const struct {
	const char *zippers;
	int wanted;
	const char *running; /* NULL: all are ours to start */
} keys[] = {
	{"#ZIP zipper z1 a=shm b=shm\n#ZIP zipper z2 a=shm:/x b=shm:/x\n", 2, "z2"},
	{"#ZIP zipper z1 a=shm b=shm\n#ZIP zipper z2 a=shm:/x b=shm:/x\n", 1, NULL},
	{"#ZIP zipper z1 a=shm:/x b=shm:/x\n#ZIP zipper z2 a=shm b=shm\n", 1, "z1"},
	{"#ZIP zipper z1 a=tcp:" ELSEWHERE " b=shm\n#ZIP zipper z2 a=shm:/x b=shm:/x\n", 1, "z2"},
	{"#ZIP zipper z1 a=tcp:" ELSEWHERE " b=shm\n#ZIP zipper z2 a=shm b=shm\n", 2, NULL},
};

static void knows_whose_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		static struct zrailset rails; /* large */
		struct zhostfile hosts;
		struct zplan plan;
		struct zerr err = {{0}};
		parse(&hosts, keys[i].zippers);
		make_plan(&plan, "a,b");
		assert_int_equal(zrailset_find(&rails, &plan, &hosts, keys[i].wanted, &err), 0);
		const char *running = zrailset_find_running(&rails);
		assert_string_equal(running ? running : "ours", keys[i].running ? keys[i].running : "ours");
		zrailset_free(&rails);
		zhostfile_free(&hosts);
	}
}

/* The rails over hops without those that cannot be used, each with the text for all ranks and for the ranks of a; or
 * the error. */
static const struct {
	const char *zippers;
	const char *rails;
} ways[] = {
	{"#ZIP zipper x a=shm:/xa b=shm:/xb\n#ZIP zipper y b=shm:/yb w=shm:/yw\n#ZIP zipper z w=shm:/zw c=shm:/zc\n",
		"a,b,b+2 b+1,b,w+1 w+2,w+1,c: "
		"shm:/xa,shm:/xa>a>b>shm:/yb,shm:/xa>a>b>shm:/yb>b>w>shm:/zw"},
	{"#ZIP zipper x a=shm:/xa b=shm:/xb\n#ZIP zipper y b=tcp:" ELSEWHERE
	 " c=shm\n#ZIP zipper z c=shm:/zc b=shm:/zb\n",
		"a,b,b+1 b+1,b,c: shm:/xa,shm:/xa>a>b>shm:/zb; y: hosts:8: " ELSEWHERE
		" is not an address of this machine: zmpirun cannot start zipperd there; write the port of one that "
		"runs (b=tcp:" ELSEWHERE ":7474)"},
	{"#ZIP zipper x a=shm:/xa b=shm:/xb\n#ZIP zipper y w=shm b=tcp:" ELSEWHERE
	 "\n#ZIP zipper z c=shm:/zc b=shm:/zb\n#ZIP zipper v w=shm:/vw c=shm:/vc\n",
		"a,b,b+1 b+1,b,c: shm:/xa,shm:/xa>a>b>shm:/zb; y: hosts:8: " ELSEWHERE
		" is not an address of this machine: zmpirun cannot start zipperd there; write the port of one that "
		"runs (b=tcp:" ELSEWHERE ":7474); v: it leads nowhere without zipper y"},
	{"#ZIP zipper x a=shm:/xa b=shm:/xb\n#ZIP zipper y b=tcp:" ELSEWHERE " c=shm\n",
		"zipper y: hosts:8: " ELSEWHERE " is not an address of this machine: zmpirun cannot start zipperd "
		"there; write the port of one that runs (b=tcp:" ELSEWHERE ":7474)"},
};

static void finds_ways_without_some(void **state)
{
	static char text[ZRAILSET_TEXT_BYTES + ZRAILSET_ENTRIES_BYTES], part[ZRAILSET_TEXT_BYTES];
	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		static struct zrailset rails; /* large */
		struct zhostfile hosts;
		struct zplan plan;
		struct zerr err = {{0}};
		parse(&hosts, ways[i].zippers);
		make_plan(&plan, "a,b,c");
		int rc = zrailset_find(&rails, &plan, &hosts, 0, &err);
		rails.n = rails.ways.nzippers; /* as if they were open */
		if (rc == 0)
			sprintf(text, "%s: %s", zrailset_format_entries(&rails, part), "");
		if (rc == 0)
			strcat(text, zrailset_format(&rails, 0, part));
		for (int r = 0; rc == 0 && r < rails.nroutes; r++)
			if (rails.routes[r].rc < 0)
				sprintf(text + strlen(text), "; %s: %s", rails.routes[r].name,
					rails.routes[r].why.text);
		assert_string_equal(rc == 0 ? text : err.text, ways[i].rails);
		zrailset_free(&rails);
		zhostfile_free(&hosts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_them_in_order),
		cmocka_unit_test(knows_where_and_why),
		cmocka_unit_test(finds_ways_without_some),
		cmocka_unit_test(makes_its_own),
		cmocka_unit_test(knows_whose_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
