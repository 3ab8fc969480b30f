/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, and how it distributes ranks over clusters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "launch/plan/chosen.h"
#include "launch/plan/plan.h"
#include "launch/plan/recording.h"
#include "launch/plan/site.h"

#define WORDS_MAX 64

struct line {
	char text[512];
	char *argv[WORDS_MAX + 1];
	int argc;
	struct zoptions options;
};

/* Splits at blanks and parses. */
static int parse(struct line *l, const char *text, struct zerr *err)
{
	char *rest;
	memset(l, 0, sizeof(*l));
	memset(err, 0, sizeof(*err));
	snprintf(l->text, sizeof(l->text), "zmpirun %s", text);
	for (char *w = strtok_r(l->text, " ", &rest); w && l->argc < WORDS_MAX; w = strtok_r(NULL, " ", &rest))
		l->argv[l->argc++] = w;
	return zoptions_parse(&l->options, l->argc, l->argv, err);
}

static const char hosts_text[] = "#ZIP cluster a\na1:2\na2:2\n#ZIP cluster b n=3\nb1:8\n#ZIP cluster c\nc1\n";

static const struct {
	const char *line, *plan;
} good[] = {
	{"--clusters 2 p", "c1:1 c2:1"},
	{"--clusters 2 -n 4 p", "c1:2 c2:2"},
	{"--clusters 3 -n 5 p", "c1:2 c2:2 c3:1"},
	{"--clusters 2 -n 1 p", "c1:1"},
	{"--clusters=1,3 p", "c1:1 c2:3"},
	{"-clusters 1+1+2 -np 4 p", "c1:1 c2:1 c3:2"},
	{"--clusters 2 -n 3 p : -n 2 q", "c1:3 c2:2"},
	{"-f h p", "a:4 b:3 c:1"},
	{"-hostfile h -n 8 p", "a:4 b:3 c:1"},
	{"--machinefile h --np 5 p", "a:4 b:1"},
	{"-f h -n 3 p", "a:3"},
	{"-f h -n 13 p", "a:8 b:4 c:1"},
	{"-f h -n 17 p", "a:9 b:6 c:2"},
	{"-f h -ppn 1 p", "a:2 b:3 c:1"},
	{"-f h -ppn 1 -n 3 p", "a:2 b:1"},
	{"-f h -perhost 1 -np3 p", "a:2 b:1"},
	{"--clusters 2 -n4 p", "c1:2 c2:2"},
	{"-f h -hosts a2,c1 p", "a:2 c:1"},
	{"-f h -H B1:2 p", "b:2"},
	{"-f h -host b1,a1 -n 7 p", "a:4 b:3"},
	{"-f h -hosts b1:8,a1,a2 p", "a:4 b:8"},
	{"-f h -hosts a[1-2],b1:8 p", "a:4 b:8"},
	{"-f h -hosts c1,a[2,1]:3 p", "a:6 c:1"},
};

static void distributes_ranks(void **state)
{
	struct zhostfile hosts;
	struct zerr err = {{0}};
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct line l;
		struct zplan plan;
		char got[256] = "";
		int first = 0;
		if (parse(&l, good[i].line, &err) < 0)
			fail_msg("%s: %s", good[i].line, err.text);
		FILE *in = fmemopen((void *)(uintptr_t)hosts_text, strlen(hosts_text), "r");
		assert_int_equal(zhostfile_parse(&hosts, in, "h", &err), 0);
		fclose(in);
		if (l.options.hosts && zchosen_keep(&hosts, l.options.hosts, &err) < 0)
			fail_msg("%s: %s", good[i].line, err.text);
		if (zplan_make(&plan, &l.options, l.options.hostfile ? &hosts : NULL, &err) < 0)
			fail_msg("%s: %s", good[i].line, err.text);
		for (int k = 0; k < plan.nparts; k++) {
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s:%d", k ? " " : "",
				plan.parts[k].name, plan.parts[k].nranks);
			assert_int_equal(plan.parts[k].first, first);
			first += plan.parts[k].nranks;
		}
		assert_int_equal(first, plan.nranks);
		assert_string_equal(got, good[i].plan);
		zplan_free(&plan);
		zoptions_free(&l.options);
		zhostfile_free(&hosts);
	}
}

static const struct {
	const char *list, *error;
} lists[] = {
	{"a1,a3", "-hosts: h has no host a3 (did you mean a1?)"},
	{"a1,a1", "-hosts: a1 is named twice; write a1:2 for two slots"},
	{"a[1-3]", "-hosts: h has no host a3 (did you mean a1?)"},
	{"a[1-2],a2", "-hosts: a2 is named twice; write a2:2 for two slots"},
	{"a[1-", "-hosts: 'a[1-' is no list of hosts: NAME[FIRST-LAST], as node[01-04,7]"},
	{"a1:0", "-hosts: 'a1:0': the slots are no number from 1 to 65536"},
	{",", "-hosts: the list is empty"},
};

static void refuses_lists_of_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct zhostfile hosts;
		struct zerr err = {{0}};
		FILE *in = fmemopen((void *)(uintptr_t)hosts_text, strlen(hosts_text), "r");
		assert_int_equal(zhostfile_parse(&hosts, in, "h", &err), 0);
		fclose(in);
		assert_int_equal(zchosen_keep(&hosts, lists[i].list, &err), -EINVAL);
		assert_string_equal(err.text, lists[i].error);
		zhostfile_free(&hosts);
	}
}

static void reads_options(void **state)
{
	struct line l;
	struct zerr err;
	(void)state;
	assert_int_equal(parse(&l,
				 "--clusters 2 -n 2 -genv A 1 -genv LD_PRELOAD x.so -env B 2 -wdir /tmp -l --stats "
				 "-genvlist C,D -timeout 70 -init-timeout 5 -rails 3 -- prog -n 7 : -n 1 -env "
				 "LD_PRELOAD y.so q",
				 &err),
		0);
	assert_true(l.options.label && l.options.stats && !l.options.verbose);
	assert_int_equal(l.options.timeout_s, 70);
	assert_int_equal(l.options.init_timeout_s, 5);
	assert_int_equal(l.options.rails, 3);
	assert_string_equal(l.options.preload, "x.so:y.so");
	assert_int_equal(l.options.nsections, 2);
	assert_int_equal(l.options.sections[0].argc, 3);
	assert_string_equal(l.options.sections[0].argv[0], "prog");
	assert_int_equal(l.options.sections[0].nranks, 2);
	assert_int_equal(l.options.sections[1].nranks, 1);
	assert_string_equal(l.options.globals.words[1], "A");
	assert_string_equal(l.options.globals.words[3], "-genvlist");
	assert_int_equal(strncmp(l.options.globals.words[4], "C,D,ZIPPER_JOB,", 15), 0);
	assert_string_equal(l.options.sections[0].locals.words[4], "/tmp");
	zoptions_free(&l.options);
	assert_int_equal(parse(&l, "--help", &err), 0);
	assert_true(l.options.help);
	zoptions_free(&l.options);
	assert_int_equal(parse(&l, "-V", &err), 0);
	assert_true(l.options.version);
	zoptions_free(&l.options);
}

/* Without -f and --clusters there must be a hostfile of the site. */
static void takes_hostfile_of_site(void **state)
{
	struct line l;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(setenv("ZMPIRUN_HOSTFILE", "site.hosts", 1), 0);
	assert_string_equal(zsite_find_hostfile(), "site.hosts");
	assert_int_equal(parse(&l, "p", &err), 0);
	zoptions_free(&l.options);
	assert_int_equal(setenv("ZMPIRUN_HOSTFILE", "", 1), 0);
	assert_null(zsite_find_hostfile());
}

static const struct {
	const char *line;
	int recorded;
	const char *error;
} recordings[] = {
	{"--clusters 1 p", 0, ""},
	{"--clusters 1 --profile /x p", 1, ""},
	{"--clusters 1 --profile /x -n 1 p : -n 1 q", 1, ""},
	{"--clusters 1 --profile /x -env ZIPPER_PROFILE= p", 0, ""},
	{"--clusters 1 -genv ZIPPER_PROFILE /x -n 1 p : -n 1 -env ZIPPER_PROFILE /x q", 1, ""},
	{"--clusters 1 -env ZIPPER_PROFILE x --no-mpi -n 1 p : -n 1 q", 0, ""},
	{"--clusters 1 -n 1 -env ZIPPER_PROFILE= p : -n 1 q", 0, ""},
	{"--clusters 1 -n 1 -env ZIPPER_PROFILE x p : -n 1 q", -EINVAL,
		"ZIPPER_PROFILE is 'x' for p and '' for q: all ranks are recorded in one file, so use --profile FILE "
		"in place of -env"},
	{"--clusters 2 --profile /x -n 1 p : -n 1 -env ZIPPER_PROFILE= q", -EINVAL,
		"ZIPPER_PROFILE is '/x' for p and '' for q: all ranks are recorded in one file, so use --profile FILE "
		"in place of -env"},
};

/* All ranks are recorded, or none: one alone would wait for the others. */
static void finds_recording(void **state)
{
	struct line l;
	struct zerr err;
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		assert_int_equal(parse(&l, recordings[i].line, &err), 0);
		if (zrecording_find(&l.options, &err) != recordings[i].recorded)
			fail_msg("%s: %s", recordings[i].line, err.text);
		assert_string_equal(err.text, recordings[i].error);
		zoptions_free(&l.options);
	}
}

static const struct {
	const char *line, *error;
} bad[] = {
	{"", "no program given"},
	{"p", "no clusters: give a zipper hostfile (-f FILE) or --clusters N for this machine"},
	{"--clusters 2", "no program given"},
	{"--clusters 2 p :", "no program given behind the last ':'"},
	{"--clusters 2 : p", "no program given"},
	{"--clusters 2 -f h p", "give either a hostfile or --clusters"},
	{"--clusters 2 -ppn 1 p", "-ppn needs a hostfile"},
	{"--clusters 2 -n p q", "-n: 'p' is not a number from 1 to 1048576"},
	{"--clusters 2 --rails 17 q", "-rails: '17' is not a number from 1 to 16"},
	{"--clusters 2 -usize 0 q", "-usize: '0' is not a number from 1 to 2147483647"},
	{"--clusters 2 -n 4 -usize 3 q", "-usize 3 is less than the 4 ranks of the job"},
	{"--clusters 2 -n 0 q", "-n: '0' is not a number from 1 to 1048576"},
	{"--clusters 2 -n", "-n: argument missing: N"},
	{"--clusters 2 -genv A", "-genv: argument missing: NAME VALUE | NAME=VALUE"},
	{"--clusters 2 -genv ZIPPER_JOB 1 p", "-genv ZIPPER_JOB: zmpirun sets this variable itself"},
	{"--clusters 2 --stats=1 p", "--stats=1: this option takes no argument"},
	{"--clusters 2 --genv=1 2 p", "--genv=1: this option takes two arguments behind it"},
	{"--clusters 2 --clusters 3 p", "-clusters is given twice"},
	{"--clusters 2 p : -f h q", "-f must stand before the first program, it holds for all"},
	{"--clutsers 2 p", "unknown option --clutsers (did you mean clusters?)"},
	{"--xyzzy 2 p", "unknown option --xyzzy"},
	{"--mca btl tcp p", "--mca is an option of Open MPI: zmpirun starts MPICH: leave it out"},
	{"--report-bindings p",
		"--report-bindings is an option of Open MPI and mpiexec: write -v: it shows the place of each "
		"rank"},
	{"-N 2 p", "-N is an option of srun: write -hosts LIST, or -ppn N for the ranks of a host"},
	{"--ntasks-per-node=2 p", "--ntasks-per-node is an option of srun: write -ppn N"},
	{"-rmk slurm p", "-rmk is an option of mpiexec: zmpirun names the hosts itself: write -f FILE"},
	{"--clusters 2 -nx p", "unknown option -nx (did you mean n?)"},
	{"--clusters 2 -hosts a p", "-hosts needs a hostfile: it names hosts of it"},
	{"-f h -hosts a --map m p", "-hosts and --map both say which hosts are used"},
	{"-f h -outfile-pattern out p", "-outfile-pattern: 'out' has no %r, the rank: all ranks would be the same"},
	{"-f h -errfile-pattern %h.%r p", "-errfile-pattern: '%h.%r': only %r (the rank) and %% have a meaning"},
	{"-f h -errfile-pattern %r% p", "-errfile-pattern: '%r%': only %r (the rank) and %% have a meaning"},
	{"-f h -l -outfile-pattern %r p",
		"-l and -outfile-pattern: each file has the output of one rank, so leave out -l"},
	{"-f h -configfile x p", "p: the programs are in the file of -configfile"},
	{"-f h -configfile /nonexistent", "-configfile /nonexistent: No such file or directory"},
	{"--clusters 0 p", "--clusters: '0' is neither a number from 1 to 64 nor ranks of each cluster (as 2,2)"},
	{"--clusters 65 p", "--clusters: '65' is neither a number from 1 to 64 nor ranks of each cluster (as 2,2)"},
	{"--clusters 1,,2 p", "--clusters: '1,,2' is neither a number from 1 to 64 nor ranks of each cluster (as 2,2)"},
	{"--clusters 1,2, p", "--clusters: '1,2,' is neither a number from 1 to 64 nor ranks of each cluster (as 2,2)"},
	{"--clusters 0+2 p", "--clusters: '0+2' is neither a number from 1 to 64 nor ranks of each cluster (as 2,2)"},
	{"--clusters 1,2 -n 4 p", "--clusters 1,2 makes 3 ranks, but -n says 4"},
	{"--clusters 2 -n 1 p : q", "with several programs each needs its -n"},
	{"--clusters 2 --oversubscribe p", "--oversubscribe needs --map: without one ranks go round all hosts anyway"},
	{"-f h -ppn 1 --map m p", "-ppn and --map both say how many ranks a host gets"},
	{"-f h -bind-to cores p", "-bind-to: mpiexec cannot bind to 'cores' (did you mean core?): it knows none, core, "
				  "hwthread, socket, numa, "
				  "machine, l3cache, user:LIST and some more, see mpiexec -bind-to -help"},
	{"--clusters 2 --map /nonexistent p", "/nonexistent: No such file or directory"},
};

static void tells_what_is_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct line l;
		struct zplan plan = {0};
		struct zerr err;
		int rc = parse(&l, bad[i].line, &err);
		if (rc == 0)
			rc = zplan_make(&plan, &l.options, NULL, &err);
		if (rc >= 0)
			fail_msg("accepted: %s", bad[i].line);
		assert_string_equal(err.text, bad[i].error);
		zplan_free(&plan);
		zoptions_free(&l.options);
	}
}

static void tells_that_names_are_too_long(void **state)
{
	char text[64 * 80], *p = text;
	struct zhostfile hosts;
	struct line l;
	struct zplan plan;
	struct zerr err;
	(void)state;
	for (int i = 0; i < 64; i++)
		p += sprintf(p, "#ZIP cluster c%07d\nh%d\n", i, i);
	FILE *in = fmemopen(text, strlen(text), "r");
	assert_int_equal(zhostfile_parse(&hosts, in, "h", &err), 0);
	fclose(in);
	assert_int_equal(parse(&l, "-f h p", &err), 0);
	assert_int_equal(zplan_make(&plan, &l.options, &hosts, &err), -EINVAL);
	assert_string_equal(err.text, "the names of the clusters are longer than 511 characters together");
	zplan_free(&plan);
	zoptions_free(&l.options);
	zhostfile_free(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributes_ranks),
		cmocka_unit_test(refuses_lists_of_hosts),
		cmocka_unit_test(reads_options),
		cmocka_unit_test(takes_hostfile_of_site),
		cmocka_unit_test(finds_recording),
		cmocka_unit_test(tells_what_is_wrong),
		cmocka_unit_test(tells_that_names_are_too_long),
	};
	if (setenv("ZMPIRUN_HOSTFILE", "", 1) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
