/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers that carry a job, and the hops by which its parts reach them. The expected ways are made by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hosts/hostways.h"
#include "common/hosts/hostfile_find.h"

static void parse(struct zhostfile *hosts, const char *clusters, const char *zippers)
{
	char text[8192] = "";
	struct zerr err = {{0}};
	for (const char *c = clusters; *c; c++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "#ZIP cluster %c\nhost%c\n", *c, *c);
	for (const char *z = zippers; *z; z += strcspn(z, ";"), z += *z == ';')
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "#ZIP zipper %.*s\n", (int)strcspn(z, ";"),
			z);
	FILE *in = fmemopen(text, strlen(text), "r");
	if (zhostfile_parse(hosts, in, "hosts", &err) < 0)
		fail_msg("%s: %s", zippers, err.text);
	fclose(in);
}

/* Each letter a part. */
static int split(const char *letters, char (*parts)[ZCTL_NAME_MAX + 1])
{
	int n = 0;
	for (; letters[n]; n++)
		snprintf(parts[n], sizeof(parts[n]), "%c", letters[n]);
	return n;
}

/* "shm:/z1.a", which names the zipper and the fabric */
static const struct zaddr *address(const void *ctx, int zipper, const char *fabric)
{
	static struct zaddr addr;
	const struct zhostfile *hosts = ctx;
	assert_non_null(zhostfile_find_port(hosts, zipper, fabric));
	addr = (struct zaddr){.kind = ZADDR_SHM};
	snprintf(addr.host, sizeof(addr.host), "/%.64s.%.64s", hosts->zippers[zipper].host, fabric);
	return &addr;
}

/* A line for each rail: its name, "entries", and the way of each part, without "shm:/". */
static void describe(const struct zhostways *w, const struct zhostfile *hosts, char *out, size_t cap)
{
	static struct zhops hops; /* large */
	static char text[ZHOPS_TEXT_BYTES], entries[ZCTL_ENTRIES_MAX];
	struct zerr err;
	FILE *to = fmemopen(out, cap, "w");
	for (int r = 0; r < w->nzippers; r++) {
		assert_int_equal(zhostways_entries(w, r, entries, &err), 0);
		fprintf(to, "%s \"%s\":", hosts->zippers[w->zipper[r]].host, entries);
		for (int p = 0; p < w->nparts; p++) {
			zhostways_hops(w, r, p, &hops, address, hosts);
			zhops_format(&hops, text, sizeof(text));
			fputc(' ', to);
			for (const char *c = text; *c; c++) {
				if (strncmp(c, "shm:/", 5) == 0)
					c += 5;
				fputc(*c, to);
			}
		}
		fputc('\n', to);
	}
	fclose(to);
}

#define CHAIN "x a=shm b=shm;y b=shm c=shm"
#define RING CHAIN ";z c=shm a=shm"
#define WAN "x a=shm wan=shm;y wan=shm b=shm"

static const struct {
	const char *clusters, *parts, *zippers;
	const char *ways; /* or the error */
} cases[] = {
	/* zippers that join all clusters do it alone, in the order of the file */
	{"abc", "abc", "x a=shm b=shm;y a=shm b=shm c=shm;z c=shm b=shm a=shm",
		"y \"\": y.a y.b y.c\nz \"\": z.a z.b z.c\n"},
	{"abc", "ba", "x a=shm b=shm;y a=shm b=shm c=shm;z c=shm b=shm", "x \"\": x.b x.a\ny \"\": y.b y.a\n"},
	{"ab", "a", "z a=shm b=shm", "z \"\": z.a\n"},
	/* a chain */
	{"abc", "abc", CHAIN,
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"
		"y \"b+1,b,c\": x.a>a>b>y.b y.b y.c\n"},
	{"abc", "ca", CHAIN, /* no zipper in the middle */
		"x \"b+1,a\": y.c>c>b>x.b x.a\n"
		"y \"c,b+1\": y.c x.a>a>b>y.b\n"},
	{"abc", "abc", "y b=shm c=shm;x a=shm b=shm", /* order of the file */
		"y \"b+1,b,c\": x.a>a>b>y.b y.b y.c\n"
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"},
	{"abcd", "ad", CHAIN ";z c=shm d=shm",
		"x \"a,b+2\": x.a z.d>d>c>y.c>c>b>x.b\n"
		"y \"b+1,c+1\": x.a>a>b>y.b z.d>d>c>y.c\n"
		"z \"c+2,d\": x.a>a>b>y.b>b>c>z.c z.d\n"},
	/* a star: all meet in m */
	{"mabc", "abc", "x a=shm m=shm;y b=shm m=shm;z m=shm c=shm",
		"x \"a,m+1,m+1\": x.a y.b>b>m>x.m z.c>c>m>x.m\n"
		"y \"m+1,b,m+1\": x.a>a>m>y.m y.b z.c>c>m>y.m\n"
		"z \"m+1,m+1,c\": x.a>a>m>z.m y.b>b>m>z.m z.c\n"},
	/* a network of zippers alone */
	{"ab", "ab", WAN, "x \"a,wan+1\": x.a y.b>b>wan>x.wan\ny \"wan+1,b\": x.a>a>wan>y.wan y.b\n"},
	{"abcd", "abcd", "x a=shm b=shm wan=shm;y wan=shm c=shm d=shm",
		"x \"a,b,wan+1,wan+1\": x.a x.b y.c>c>wan>x.wan y.d>d>wan>x.wan\n"
		"y \"wan+1,wan+1,c,d\": x.a>a>wan>y.wan x.b>b>wan>y.wan y.c y.d\n"},
	/* two between a and b: rails take turns where both lead on */
	{"abc", "abc", "x1 a=shm b=shm;x2 a=shm b=shm;y b=shm c=shm",
		"x1 \"a,b,b+1\": x1.a x1.b y.c>c>b>x1.b\n"
		"x2 \"a,b,b+1\": x2.a x2.b y.c>c>b>x2.b\n"
		"y \"b+1,b,c\": x1.a>a>b>y.b y.b y.c\n"},
	{"abc", "abc", "x1 a=shm b=shm;x2 a=shm b=shm;y1 b=shm c=shm;y2 c=shm b=shm",
		"x1 \"a,b,b+1\": x1.a x1.b y1.c>c>b>x1.b\n"
		"x2 \"a,b,b+1\": x2.a x2.b y2.c>c>b>x2.b\n"
		"y1 \"b+1,b,c\": x1.a>a>b>y1.b y1.b y1.c\n"
		"y2 \"b+1,b,c\": x2.a>a>b>y2.b y2.b y2.c\n"},
	/* two networks between two zippers: rail 0 the first one, rail 1 the second one */
	{"ab", "ab", "x a=shm u=shm v=shm;y v=shm u=shm b=shm",
		"x \"a,v+1\": x.a y.b>b>v>x.v\ny \"v+1,b\": x.a>a>v>y.v y.b\n"},
	/* a ring: the third way round is a rail, too */
	{"abc", "abc", RING,
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"
		"y \"c+1,b,c\": z.a>a>c>y.c y.b y.c\n"
		"z \"a,a+1,c\": z.a x.b>b>a>z.a z.c\n"},
	/* a zipper that leads nowhere is no rail, nor is one behind it */
	{"abcdef", "abc", CHAIN ";s c=shm d=shm;t d=shm e=shm;u e=shm f=shm",
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"
		"y \"b+1,b,c\": x.a>a>b>y.b y.b y.c\n"},
	{"abcdef", "abc", CHAIN ";s d=shm e=shm;t e=shm d=shm", /* another piece */
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"
		"y \"b+1,b,c\": x.a>a>b>y.b y.b y.c\n"},
	/* none */
	{"abc", "abc", "x a=shm b=shm",
		"hosts: no #ZIP zipper line serves all of the clusters a,b,c, nor do several lead from a to c"},
	{"abcd", "dab", CHAIN,
		"hosts: no #ZIP zipper line serves all of the clusters d,a,b, nor do several lead from d to a"},
	{"abcd", "abd", CHAIN,
		"hosts: no #ZIP zipper line serves all of the clusters a,b,d, nor do several lead from a to d"},
	{"ab", "ab", "", "hosts: no #ZIP zipper line serves all of the clusters a,b, nor do several lead from a to b"},
	{"ab", "ac", WAN, "hosts: there is no cluster c"},
};

static void finds_the_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char parts[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1], text[8192];
		struct zhostfile hosts;
		struct zhostways ways;
		struct zerr err = {{0}};
		parse(&hosts, cases[i].clusters, cases[i].zippers);
		int n = split(cases[i].parts, parts);
		int rc = zhostways_find(&ways, &hosts, parts, n, ZCTL_RAILS_MAX, NULL, &err);
		if (rc == 0)
			describe(&ways, &hosts, text, sizeof(text));
		assert_string_equal(rc == 0 ? text : err.text, cases[i].ways);
		zhostways_free(&ways);
		zhostfile_free(&hosts);
	}
}

/* The ways to parts, with some zippers left out (a letter each: a is the first one), or the error. */
static const char *ways_without(const char *clusters, const char *parts, const char *zippers, const char *without,
	int max)
{
	static char text[8192];
	char names[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	bool left_out[26] = {false};
	struct zhostfile hosts;
	struct zhostways ways;
	struct zerr err = {{0}};
	for (; *without; without++)
		left_out[*without - 'a'] = true;
	parse(&hosts, clusters, zippers);
	if (zhostways_find(&ways, &hosts, names, split(parts, names), max, left_out, &err) < 0)
		snprintf(text, sizeof(text), "%s", err.text);
	else
		describe(&ways, &hosts, text, sizeof(text));
	zhostways_free(&ways);
	zhostfile_free(&hosts);
	return text;
}

static void leaves_out(void **state)
{
	static const char three[] = "x a=shm b=shm;y a=shm b=shm;z b=shm a=shm";
	(void)state;
	assert_string_equal(ways_without("ab", "ab", three, "", 2), "x \"\": x.a x.b\ny \"\": y.a y.b\n");
	assert_string_equal(ways_without("ab", "ab", three, "a", 1), "y \"\": y.a y.b\n");
	assert_string_equal(ways_without("abc", "abc", RING, "c", 1), /* max has no effect */
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"
		"y \"b+1,b,c\": x.a>a>b>y.b y.b y.c\n");
	assert_string_equal(ways_without("abc", "abc", RING, "bc", 16),
		"hosts: no #ZIP zipper line serves all of the clusters a,b,c, nor do several lead from a to c");
	/* the zipper that joins all is left out: the others carry the job */
	assert_string_equal(ways_without("abc", "abc", "j a=shm b=shm c=shm;" CHAIN, "a", 16),
		"x \"a,b,b+1\": x.a x.b y.c>c>b>x.b\n"
		"y \"b+1,b,c\": x.a>a>b>y.b y.b y.c\n");
}

/* n zippers in a row, from cluster a to b. */
static void make_row(char *text, size_t cap, int n)
{
	FILE *to = fmemopen(text, cap, "w");
	for (int i = 0; i < n; i++) {
		fprintf(to, "z%d ", i);
		fprintf(to, i == 0 ? "a=shm " : "w%d=shm ", i);
		fprintf(to, i == n - 1 ? "b=shm;" : "w%d=shm;", i + 1);
	}
	fclose(to);
}

static void refuses_what_is_too_much(void **state)
{
	char text[4096];
	(void)state;
	make_row(text, sizeof(text), 9); /* 8 hops */
	assert_string_equal(strrchr(ways_without("ab", "ab", text, "", 16), 'z'), "z8.b\n");
	make_row(text, sizeof(text), 10);
	assert_string_equal(ways_without("ab", "ab", text, "", 16),
		"hosts:5: zipper z0 is more than 8 hops away from cluster b");
	*text = '\0';
	for (int i = 0; i < 16; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "z%d a=shm b=shm;", i);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "y b=shm c=shm");
	assert_string_equal(ways_without("abc", "abc", text, "", 16),
		"hosts: more than 16 zippers lie between the clusters");
	snprintf(text, sizeof(text), "x a=shm m=shm;y m=shm b=shm");
	for (int i = 0; i < 63; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " f%d=shm", i);
	strcat(text, ";z f0=shm");
	for (int i = 1; i < 63; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " f%d=shm", i);
	assert_string_equal(ways_without("ab", "ab", text, "", 16), "hosts:6: zipper y: more than 64 fabrics");
}

/* Names that would look like another part of the text; zipper.hosts has none of them. */
static void refuses_signs(void **state)
{
	(void)state;
	for (const char *name = "w+n\0w>n\0"; *name; name += 4) {
		char parts[2][ZCTL_NAME_MAX + 1];
		struct zhostfile hosts;
		struct zhostways ways;
		struct zerr err = {{0}};
		parse(&hosts, "ab", WAN);
		strcpy(hosts.zippers[0].ports[1].fabric, name);
		strcpy(hosts.zippers[1].ports[0].fabric, name);
		assert_int_equal(zhostways_find(&ways, &hosts, parts, split("ab", parts), 16, NULL, &err), -EINVAL);
		assert_non_null(strstr(err.text, ": such a name cannot be part of a way with hops"));
		zhostfile_free(&hosts);
	}
}

/* A bit for each useful port. */
static void knows_the_ports(void **state)
{
	char parts[3][ZCTL_NAME_MAX + 1];
	struct zhostfile hosts;
	struct zhostways ways;
	struct zerr err = {{0}};
	(void)state;
	parse(&hosts, "abcd", "x d=shm a=shm b=shm;y b=shm w=shm c=shm;z c=shm w=shm");
	assert_int_equal(zhostways_find(&ways, &hosts, parts, split("abc", parts), 16, NULL, &err), 0);
	assert_int_equal(ways.nzippers, 3);
	assert_int_equal(ways.ports[0], 6);
	assert_int_equal(ways.ports[1], 7);
	assert_int_equal(ways.ports[2], 3);
	zhostways_free(&ways);
	zhostfile_free(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_ways),
		cmocka_unit_test(leaves_out),
		cmocka_unit_test(refuses_what_is_too_much),
		cmocka_unit_test(refuses_signs),
		cmocka_unit_test(knows_the_ports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
