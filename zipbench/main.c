/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipbench: measurements with subcommands. A subcommand parses its own arguments, prints its results, and returns the
 * exit status. A subcommand that is an MPI program is an executable of its own, zipbench-NAME. zipbench becomes that
 * executable, so that a launcher which starts zipbench starts it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "zipbench/base/bench.h"
#include "zipbench/cast/cast.h"
#include "zipbench/endpoints/garray.h"
#include "zipbench/endpoints/msgrate.h"
#include "zipbench/endpoints/stencil.h"
#include "zipbench/tune/tune.h"

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv); /* argv[0] is the name; NULL: zipbench-NAME */
};

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

/* Replaces this process by the program of that command. */
static int become(char **argv)
{
	char path[BENCH_PATH_MAX];
	bench_program(path, argv[0]);
	execv(path, argv);
	fprintf(stderr, "zipbench: %s: %s\n", path, strerror(errno));
	return EXIT_FAILURE;
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
