/* SPDX-License-Identifier: BSD-3-Clause */
/* zipbench: finds the subcommand. */
#include "zipbench/zipbench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log.h"

static const struct command commands[] = {
	{"coll", "collectives of all ranks; to be started by zmpirun or mpiexec", NULL},
	{"cast", "multicasts of libzipcast: algorithms, groups, blocks, waiting", cast_main},
	{"tune", "writes a tuning table from measurements of the collectives", tune_main},
#ifdef ZIPBENCH_VERBS
	{"msgrate", "rate of RDMA writes of many threads, by what they share", msgrate_main},
	{"garray", "product of matrices that lie in another process: get, compute, put", garray_main},
	{"stencil", "exchange of halos, by processes x threads", stencil_main},
#endif
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help(FILE *out, int status)
{
	fputs("usage: zipbench COMMAND [OPTION ...]\n\n", out);
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nEach tells its options with --help.\n", out);
	return status;
}

bool bench_beside(char *path, const char *name)
{
	char self[BENCH_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n < 0 ? 0 : n] = 0;
	char *end = strrchr(self, '/');
	int len = snprintf(path, BENCH_PATH_MAX, "%.*s/%s", end ? (int)(end - self) : 0, self, name);
	if (len >= BENCH_PATH_MAX)
		return false;
	return access(path, X_OK) == 0;
}

void bench_program(char *path, const char *command)
{
	char name[64];
	snprintf(name, sizeof(name), "zipbench-%s", command);
	if (!bench_beside(path, name))
		snprintf(path, BENCH_PATH_MAX, "%s/%s", PKGLIBEXECDIR, name);
}

/* Replaces this process by the program of that command. */
static int become(char **argv)
{
	char path[BENCH_PATH_MAX];
	bench_program(path, argv[0]);
	execv(path, argv);
	fprintf(stderr, "zipbench: %s: %s\n", path, strerror(errno));
	return EXIT_FAILURE;
}

int bench_fail(const char *command, const struct zerr *err)
{
	fprintf(stderr, "zipbench %s: %s\n", command, err->text);
	return EXIT_FAILURE;
}

double bench_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	zlog_init("zipbench", ZLOG_INFO);
	if (argc < 2)
		return help(stderr, BENCH_EXIT_USAGE);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(stdout, 0);
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run ? commands[i].run(argc - 1, argv + 1) : become(argv + 1);
	fprintf(stderr, "zipbench: there is no command %s; try zipbench --help\n", argv[1]);
	return BENCH_EXIT_USAGE;
}
