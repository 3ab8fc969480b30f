/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement maps: their contents, their nodes in a hostfile, and every error with its file, line and words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/common/corpus.h"
#include "test/unit/within.h"
#include "common/hosts/map.h"

static FILE *open_text(const char *text, size_t len)
{
	FILE *in = len ? fmemopen((void *)(uintptr_t)text, len, "r") : fopen("/dev/null", "r");
	assert_non_null(in);
	return in;
}

static int parse(struct zmap *map, const char *text, size_t len, struct zerr *err)
{
	FILE *in = open_text(text, len);
	int rc = zmap_parse(map, in, "m", err);
	fclose(in);
	return rc;
}

static const char *name(const struct zmap *map, uint32_t at)
{
	return at == ZMAP_NONE ? "" : map->names[at];
}

static void reads_everything(void **state)
{
	static const char text[] = "# a map\n"
				   "#ZIP predicted bridged 17 bytes\n"
				   "\n"
				   " 3,0-1\tnode001  # first\r\n"
				   "4-5 zip01 das4 0-1,4\n"
				   "2 zip01 - 7\n"
				   "6 zip01 lgm -";
	static const char *const expected[7][3] = {{"node001", "", ""}, {"node001", "", ""}, {"zip01", "", "7"},
		{"node001", "", ""}, {"zip01", "das4", "0-1,4"}, {"zip01", "das4", "0-1,4"}, {"zip01", "lgm", ""}};
	struct zmap map;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&map, text, strlen(text), &err), 0);
	assert_string_equal(map.path, "m");
	assert_int_equal(map.nranks, 7);
	for (int v = 0; v < 7; v++) {
		assert_string_equal(name(&map, map.places[v].node), expected[v][0]);
		assert_string_equal(name(&map, map.places[v].cluster), expected[v][1]);
		assert_string_equal(name(&map, map.places[v].cpus), expected[v][2]);
	}
	assert_int_equal(map.places[3].line, 4);
	assert_int_equal(map.places[2].line, 6);
	assert_int_equal(map.places[2].node, map.places[6].node); /* each name once */
	zmap_free(&map);
	assert_null(map.places);
}

/* The ranks of a line are divided in the order of both lists. */
static void divides_ranks(void **state)
{
	static const char text[] = "6-7,0-3 n[08-09],z - 1\n4-5 n08\n";
	static const char *const expected[8] = {"n09", "n09", "z", "z", "n08", "n08", "n08", "n08"};
	struct zmap map;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&map, text, strlen(text), &err), 0);
	assert_int_equal(map.nranks, 8);
	for (int v = 0; v < 8; v++) {
		assert_string_equal(name(&map, map.places[v].node), expected[v]);
		assert_string_equal(name(&map, map.places[v].cpus), v == 4 || v == 5 ? "" : "1");
	}
	zmap_free(&map);
}

/* More names and ranks than any table holds at first. */
static void reads_many(void **state)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct zmap map;
	struct zerr err = {{0}};
	(void)state;
	for (int v = 4999; v >= 0; v--)
		fprintf(out, "%d node%d\n", v, v % 1000);
	fclose(out);
	assert_int_equal(parse(&map, text, len, &err), 0);
	assert_int_equal(map.nranks, 5000);
	assert_int_equal(map.nnames, 1000);
	for (int v = 0; v < 5000; v++) {
		char node[16];
		snprintf(node, sizeof(node), "node%d", v % 1000);
		assert_string_equal(map.names[map.places[v].node], node);
	}
	zmap_free(&map);
	free(text);
}

static void formats_cpus(void **state)
{
	char buf[16];
	(void)state;
	assert_int_equal(zmap_format_cpus("3", buf, sizeof(buf)), 1);
	assert_string_equal(buf, "3");
	assert_int_equal(zmap_format_cpus("0-3,8", buf, sizeof(buf)), 9);
	assert_string_equal(buf, "0+1+2+3+8");
	assert_int_equal(zmap_format_cpus("10-19", buf, sizeof(buf)), 29);
	assert_string_equal(buf, "10+11+12+13+14+");
}

static void keeps_cores(void **state)
{
	static const char text[] = "#ZIP predicted bridged 17 bytes\n"
				   "#ZIP z1: cores 4,6-7 are kept for zipperd\n"
				   "# z2: cores 4 are kept for zipperd\n"
				   "#ZIP z3: cores 8 are kept for zipperd, near NUMA node 1\n"
				   "#ZIP z4: cores 8 are few\n"
				   "0 z1\n";
	struct zmap map;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&map, text, strlen(text), &err), 0);
	assert_string_equal(zmap_find_kept(&map, "z1"), "4,6-7");
	assert_string_equal(zmap_find_kept(&map, "Z1"), "4,6-7");
	assert_null(zmap_find_kept(&map, "z2"));
	assert_string_equal(zmap_find_kept(&map, "z3"), "8");
	assert_null(zmap_find_kept(&map, "z4"));
	zmap_free(&map);
}

static const struct {
	const char *text, *error;
} bad[] = {
	{"", "m: no rank in it"},
	{"# nothing\n#ZIP cost 3\n", "m: no rank in it"},
	{"0\n", "m:1: ranks '0' without a node"},
	{"\nx a\n", "m:2: 'x' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"-1 a\n", "m:1: '-1' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"3-1 a\n", "m:1: '3-1' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"0, a\n", "m:1: '0,' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"0-1-2 a\n", "m:1: '0-1-2' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"1048576 a\n", "m:1: '1048576' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"99999999999999999999 a\n",
		"m:1: '99999999999999999999' are no ranks: numbers to 1048575 and ranges, as 0-3,8"},
	{"0 a\n0 b\n", "m:2: rank 0 was already placed in line 1"},
	{"0-2,1 a\n", "m:1: rank 1 was already placed in line 1"},
	{"0 a\n2-3 b\n", "m: rank 1 is missing; there are ranks up to 3, which stands in line 2"},
	{"0 a/b\n", "m:1: 'a/b' is no name of a node"},
	{"0-2 a[1-2]\n", "m:1: 3 ranks cannot be divided by 2 nodes"},
	{"0 a,b\n", "m:1: 1 ranks cannot be divided by 2 nodes"},
	{"0 a[1\n", "m:1: 'a[1' is no list of hosts: NAME[FIRST-LAST], as node[01-04,7]"},
	{"0 ,\n", "m:1: '' is no name of a node"},
	{"0-1 a[1-2],a/b[1-2]\n", "m:1: 'a/b1' is no name of a node"},
	{"0 a b,c\n", "m:1: 'b,c' is no name of a cluster"},
	{"0 a b 1-\n", "m:1: '1-' are no cores: numbers to 65535 and ranges, as 0-3,8"},
	{"0 a b core:1\n", "m:1: 'core:1' are no cores: numbers to 65535 and ranges, as 0-3,8"},
	{"0 a b 65536\n", "m:1: '65536' are no cores: numbers to 65535 and ranges, as 0-3,8"},
	{"#ZIP z: cores 1- are kept for zipperd\n0 a\n",
		"m:1: '1-' are no cores: numbers to 65535 and ranges, as 0-3,8"},
	{"#ZIP z: cores 1 are kept for zipperd\n#ZIP z: cores 2 are kept for zipperd\n0 a\n",
		"m:2: cores of z have been kept for zipperd already"},
	{"#ZIP z: cores 1 are kept for zipperd\n#ZIP Z: cores 2 are kept for zipperd\n0 a\n",
		"m:2: cores of Z have been kept for zipperd already"},
	{"0 a b 1 x\n", "m:1: 'x' is too much: RANKS NODE [CLUSTER [CPUS]]"},
};

static void refuses_with_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zmap map;
		struct zerr err = {{0}};
		assert_true(parse(&map, bad[i].text, strlen(bad[i].text), &err) < 0);
		assert_string_equal(err.text, bad[i].error);
		assert_null(map.places);
	}
	struct zmap map;
	struct zerr err = {{0}};
	assert_int_equal(parse(&map, "0 a\0b\n", 6, &err), -EINVAL);
	assert_string_equal(err.text, "m:1: zero byte in the line");
	assert_int_equal(zmap_read(&map, "/nonexistent", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent: No such file or directory");
}

static const char hosts_text[] = "#ZIP cluster lgm\n"
				 "node001:2\n"
				 "#ZIP cluster das4\n"
				 "node101:2\n"
				 "zip01:2\n"
				 "#ZIP cluster third\n"
				 "node201\n"
				 "#ZIP zipper zip01 lgm=tcp:10.1.0.1 das4=tcp:10.2.0.1\n";

static int resolve(const char *text, bool oversubscribe, struct zmap_target *targets, struct zerr *err)
{
	struct zhostfile hosts;
	struct zmap map;
	FILE *in = open_text(hosts_text, strlen(hosts_text));
	assert_int_equal(zhostfile_parse(&hosts, in, "h", err), 0);
	fclose(in);
	assert_int_equal(parse(&map, text, strlen(text), err), 0);
	int rc = zmap_resolve(&map, &hosts, oversubscribe, targets, err);
	zmap_free(&map);
	zhostfile_free(&hosts);
	return rc;
}

static void finds_hosts(void **state)
{
	static const struct zmap_target expected[] = {{1, 1, 1}, {0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {2, 2, 0}};
	struct zmap_target targets[5];
	struct zerr err = {{0}};
	(void)state;
	/* zip01 stands below das4, and has a port on lgm */
	assert_int_equal(resolve("0 zip01\n1 node001 lgm\n2 zip01 lgm\n3 node101\n4 node201\n", false, targets, &err),
		0);
	assert_memory_equal(targets, expected, sizeof(expected));
	assert_int_equal(resolve("0-2 node001\n", true, targets, &err), 0);
}

static const struct {
	const char *text, *error;
} unfit[] = {
	{"0 node01\n", "m:1: node node01 is no host of h (did you mean node001?)"},
	{"0 node001\n1-3 node101\n", "m:2: rank 3 is one too many for node node101, which has 2 slots"},
	{"0-1 node201\n", "m:1: rank 1 is one too many for node node201, which has 1 slot"},
	{"0 zip01 lgm\n1 zip01\n2 zip01 das4\n", "m:3: rank 2 is one too many for node zip01, which has 2 slots"},
	{"0 node001 das4\n", "m:1: node node001 belongs to cluster lgm, not to das4"},
	{"0 zip01 third\n", "m:1: zipper node zip01 has no port on cluster third"},
	{"0 zip01 fourth\n", "m:1: there is no cluster fourth in h"},
};

static void refuses_what_does_not_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++) {
		struct zmap_target targets[8];
		struct zerr err = {{0}};
		assert_true(resolve(unfit[i].text, false, targets, &err) < 0);
		assert_string_equal(err.text, unfit[i].error);
	}
}

static void feed(const char *text, size_t len)
{
	struct zmap map;
	struct zerr err = {{0}};
	int rc = parse(&map, text, len, &err);
	if (rc != 0) {
		assert_true(err.text[0] != '\0');
		return;
	}
	for (uint32_t v = 0; v < map.nranks; v++) {
		assert_within(map.places[v].line, 1, len + 1);
		assert_true(map.places[v].node < map.nnames);
	}
	zmap_free(&map);
}

static void survives_corpus(void **state)
{
	(void)state;
	assert_true(corpus_replay("map", feed) >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_everything),
		cmocka_unit_test(divides_ranks),
		cmocka_unit_test(reads_many),
		cmocka_unit_test(formats_cpus),
		cmocka_unit_test(keeps_cores),
		cmocka_unit_test(refuses_with_line),
		cmocka_unit_test(finds_hosts),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(survives_corpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
