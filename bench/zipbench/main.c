/* SPDX-License-Identifier: BSD-3-Clause */
/* zipbench: finds the subcommand. */
#include "zipbench.h"

#include <stdio.h>
#include <string.h>

#include "log.h"

static const struct command commands[] = {
	{"msgrate", "rate of RDMA writes of many threads, by what they share", msgrate_main},
	{"garray", "product of matrices that lie in another process: get, compute, put", garray_main},
	{"stencil", "exchange of halos, by processes x threads", stencil_main},
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

int main(int argc, char **argv)
{
	zlog_init("zipbench", ZLOG_INFO);
	if (argc < 2)
		return help(stderr, BENCH_EXIT_USAGE);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(stdout, 0);
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "zipbench: there is no command %s; try zipbench --help\n", argv[1]);
	return BENCH_EXIT_USAGE;
}
