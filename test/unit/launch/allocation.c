/* SPDX-License-Identifier: BSD-3-Clause */
/* The Slurm allocation by its variables, which were read from batch jobs of Slurm 22.05, and its place in a hostfile.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/plan/allocation.h"

#define PLAIN "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[08-10],m1", "SLURM_TASKS_PER_NODE=2(x3),1"
#define HET                                                                                                            \
	"SLURM_JOB_ID=7", "SLURM_HET_SIZE=2", "SLURM_JOB_NODELIST=a[1-2]", "SLURM_JOB_NODELIST_HET_GROUP_0=a[1-2]",    \
		"SLURM_JOB_NODELIST_HET_GROUP_1=b1", "SLURM_TASKS_PER_NODE=2,1",                                       \
		"SLURM_TASKS_PER_NODE_HET_GROUP_0=2,1", "SLURM_TASKS_PER_NODE_HET_GROUP_1=4",                          \
		"SLURM_CPUS_PER_TASK_HET_GROUP_1=3"

static int read_it(struct zallocation *a, const struct zoptions *o, struct zerr *err, const char *const environment[])
{
	assert_int_equal(clearenv(), 0);
	for (; *environment; environment++)
		assert_int_equal(putenv((char *)(uintptr_t)*environment), 0);
	return zallocation_read(a, o, err);
}
#define READ(a, o, err, ...) read_it(a, o, err, (const char *const[]){__VA_ARGS__, NULL})

/* "name:tasks ..." of all groups, with "|" between them. */
static void print(const struct zallocation *a, char text[256])
{
	*text = '\0';
	for (int i = 0; i < a->ngroups; i++)
		for (int h = 0; h < a->groups[i].hosts.n; h++)
			sprintf(text + strlen(text), "%s%s:%d",
				h   ? " "
				: i ? "|"
				    : "",
				a->groups[i].hosts.names[h], a->groups[i].tasks[h]);
}

static void reads_allocations(void **state)
{
	static const struct zoptions none;
	struct zallocation a;
	struct zerr err = {{0}};
	char text[256];
	(void)state;
	assert_int_equal(READ(&a, &none, &err, PLAIN), 1);
	print(&a, text);
	assert_string_equal(text, "n08:2 n09:2 n10:2 m1:1");
	assert_int_equal(a.groups[0].number, -1);
	zallocation_free(&a);
	assert_int_equal(READ(&a, &none, &err, HET), 2);
	print(&a, text);
	assert_string_equal(text, "a1:2 a2:1|b1:4");
	assert_int_equal(a.groups[1].number, 1);
	assert_int_equal(a.groups[0].cpus_per_task, 0);
	assert_int_equal(a.groups[1].cpus_per_task, 3);
	zallocation_free(&a);
}

static void finds_none(void **state)
{
	static const struct zoptions none, here = {.clusters = "2"}, launcher = {.launcher = "ssh"};
	struct zallocation a;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(READ(&a, &none, &err, "HOME=/"), 0);
	assert_int_equal(READ(&a, &none, &err, "SLURM_JOB_ID=7"), 0); /* a job without nodes */
	assert_int_equal(READ(&a, &here, &err, PLAIN), 0);
	assert_int_equal(READ(&a, &launcher, &err, PLAIN), 0);
	assert_int_equal(READ(&a, &none, &err, PLAIN, "HYDRA_LAUNCHER=ssh"), 0);
}

static const struct {
	const char *variables[4], *error;
} bad[] = {
	{{"SLURM_JOB_NODELIST=n[1-", "SLURM_TASKS_PER_NODE=1"},
		"SLURM_JOB_NODELIST: 'n[1-' is no list of hosts: NAME[FIRST-LAST], as node[01-04,7]"},
	{{"SLURM_JOB_NODELIST=", "SLURM_TASKS_PER_NODE=1"},
		"SLURM_JOB_NODELIST is not set, though this is a job of Slurm"},
	{{"SLURM_JOB_NODELIST=n1"}, "SLURM_TASKS_PER_NODE is not set, though this is a job of Slurm"},
#define TASKS(text)                                                                                                    \
	{                                                                                                              \
		{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=" text},                                           \
			"SLURM_TASKS_PER_NODE=" text ": these are not the tasks of 2 hosts, as 2(x3),1"                \
	}
	TASKS("1"),
	TASKS("1,"),
	TASKS("1,2,3"),
	TASKS("2(x3)"),
	TASKS("2(x2"),
	TASKS("x"),
	TASKS(""),
	TASKS("0(x2)"),
	{{"SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=1", "SLURM_CPUS_PER_TASK=no"},
		"SLURM_CPUS_PER_TASK=no is no number"},
	{{"SLURM_HET_SIZE=0"}, "SLURM_HET_SIZE=0 is not a number from 1 to 64"},
	{{"SLURM_HET_SIZE=1", "SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=1"},
		"SLURM_JOB_NODELIST_HET_GROUP_0 is not set, though this is a job of Slurm"},
};

static void refuses_variables(void **state)
{
	static const struct zoptions none;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *const *v = bad[i].variables;
		struct zallocation a;
		struct zerr err = {{0}};
		assert_int_equal(READ(&a, &none, &err, "SLURM_JOB_ID=7", v[0], v[1], v[2]), -EINVAL);
		assert_string_equal(err.text, bad[i].error);
		zallocation_free(&a);
	}
}

/* "cluster=group host:slots ..." of all clusters, with "|" between them. */
static void print_hosts(const struct zallocation *a, const struct zhostfile *hosts, char text[256])
{
	*text = '\0';
	for (int c = 0; c < hosts->nclusters; c++) {
		const struct zcluster *k = &hosts->clusters[c];
		sprintf(text + strlen(text), "%s%s=%d", c ? "|" : "", k->name, a->of_cluster[c]);
		for (int h = 0; h < k->nhosts; h++)
			sprintf(text + strlen(text), " %s:%d", k->hosts[h].name, k->hosts[h].slots);
	}
}

static const struct {
	const char *file;
	int rc;
	const char *expected; /* the hosts, or the error */
} files[] = {
	{"#ZIP cluster x n=9\n#ZIP cluster y\n#ZIP zipper z x=shm y=shm\n", 1, "x=0 a1:2 a2:1|y=1 b1:4"},
	{"#ZIP cluster y\nb[1-9]:7\n#ZIP cluster x\na[1-9]\n#ZIP cluster z\nz1\n", 1, "y=1 b1:4|x=0 a1:2 a2:1|z=-1"},
	{"#ZIP cluster x\na1\n#ZIP cluster y\nB1\n", 1, "x=0 a1:2|y=1 B1:4"}, /* some hosts of the allocation */
	{"#ZIP cluster x\na1\n#ZIP cluster w\na2\n#ZIP cluster y\nb1\na1\n", -EINVAL, NULL},
	{"#ZIP cluster x\na1\na2\na1\n", 1, "x=0 a1:2 a2:1"},
	{"#ZIP cluster x\na1\n#ZIP cluster w\na2\n#ZIP cluster y\nb1\n", 1, "x=0 a1:2|w=0 a2:1|y=1 b1:4"},
	{"#ZIP cluster x\nc1\n", 0, "x=0 c1:1"}, /* no host of the allocation */
	{"#ZIP cluster x launcher=ssh\na1\n", 0, "x=0 a1:1"},
	/* mpiexec starts the parts there, and needs hosts */
	{"#ZIP cluster x launcher=ssh\n#ZIP cluster y\n", -EINVAL, "f:1: cluster x has no host"},
	{"#ZIP cluster x\nc1\n#ZIP cluster y\n", -EINVAL, "f:3: cluster y has no host"},
	{"#ZIP cluster x\na[1,3]\n#ZIP cluster y\nb1\n", -EINVAL, "f: host a2 of the Slurm job is in no cluster of it"},
	{"#ZIP cluster x\na1\nb1\n", -EINVAL,
		"f: cluster x has hosts in groups 0 and 1 of the Slurm job, but a cluster must be in one"},
	{"#ZIP cluster x\n", -EINVAL,
		"f has 1 cluster without hosts, but the Slurm job has 2 groups of hosts: submit it with a ':' between "
		"the clusters"},
	{"#ZIP cluster x\na1\n#ZIP cluster y\n", -EINVAL, NULL},
	{"#ZIP zipper z x=shm y=shm\n", -EINVAL, NULL},
};

static void matches_files(void **state)
{
	static const struct zoptions none;
	(void)state;
	assert_int_equal(chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"), 0);
	char dir[] = "allocationXXXXXX";
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct zallocation a;
		struct zhostfile hosts;
		struct zerr err = {{0}};
		char text[256] = "";
		FILE *out = fopen("f", "w");
		assert_non_null(out);
		fputs(files[i].file, out);
		fclose(out);
		assert_int_equal(READ(&a, &none, &err, HET), 2);
		int rc = zhostfile_read_bare(&hosts, "f", &err), bare = rc;
		if (rc == 0)
			rc = zallocation_match(&a, &hosts, &err);
		if (rc >= 0)
			print_hosts(&a, &hosts, text);
		if (rc != files[i].rc && !(rc < 0 && files[i].rc < 0))
			fail_msg("%s: %d %s", files[i].file, rc, err.text);
		if (files[i].expected)
			assert_string_equal(rc < 0 ? err.text : text, files[i].expected);
		if (bare == 0)
			zhostfile_free(&hosts);
		zallocation_free(&a);
	}
	assert_int_equal(unlink("f"), 0);
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void makes_hosts(void **state)
{
	static const struct zoptions none;
	struct zallocation a;
	struct zhostfile hosts;
	struct zerr err = {{0}};
	char text[256];
	(void)state;
	assert_int_equal(READ(&a, &none, &err, HET), 2);
	assert_int_equal(zallocation_make_hosts(&a, &hosts, &err), 0);
	a.of_cluster[1] = 1;
	print_hosts(&a, &hosts, text);
	assert_string_equal(text, "group0=0 a1:2 a2:1|group1=1 b1:4");
	zhostfile_free(&hosts);
	zallocation_free(&a);
}

static const struct {
	const char *line, *refused; /* the option; NULL: none is */
} lines[] = {
	{"-genv A 1 -env B 2 -wdir /tmp -bind-to core -n 1 p", NULL},
	{"-genv -membind x -n 1 p", NULL}, /* the name of a variable */
	{"-bind-to core:2 p", "-bind-to"},
	{"-map-by core p", "-map-by"},
	{"-membind local p", "-membind"},
	{"-genvlist A p", "-genvlist (or -genvnone)"},
	{"-n 1 p : -n 1 -envnone q", "-envlist (or -envnone)"},
	{"-outfile-pattern o.%r p", "-outfile-pattern"},
	{"-usize 9 p", "-usize"},
};

static void refuses_options(void **state)
{
	static const struct zplan plan;
	(void)state;
	assert_int_equal(setenv("SLURM_JOB_ID", "7", 1), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct zoptions o;
		struct zerr err = {{0}};
		char copy[128], wanted[128], *argv[24] = {(char[]){"zmpirun"}}, *rest;
		int argc = 1;
		strcpy(copy, lines[i].line);
		for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
			argv[argc++] = w;
		assert_int_equal(zoptions_parse(&o, argc, argv, &err), 0);
		int rc = zallocation_check(&o, &plan, &err);
		if (!lines[i].refused) {
			assert_int_equal(rc, 0);
		} else {
			assert_int_equal(rc, -EINVAL);
			snprintf(wanted, sizeof(wanted), "%s is not for ranks that srun starts: ", lines[i].refused);
			assert_memory_equal(err.text, wanted, strlen(wanted));
		}
		zoptions_free(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_allocations),
		cmocka_unit_test(finds_none),
		cmocka_unit_test(refuses_variables),
		cmocka_unit_test(matches_files),
		cmocka_unit_test(makes_hosts),
		cmocka_unit_test(refuses_options),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP); /* the tests clear the variable that says so */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
