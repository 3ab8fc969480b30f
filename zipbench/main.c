/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipbench: measurements with subcommands. A subcommand parses its own arguments, prints its results, and returns the
 * exit status. A subcommand that is an MPI program is an executable of its own, zipbench-NAME. zipbench becomes that
 * executable, so that a launcher which starts zipbench starts it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/args/commands.h"
#include "common/base/log.h"
#include "zipbench/base/bench.h"
#include "zipbench/cast/cast.h"
#include "zipbench/endpoints/garray.h"
#include "zipbench/endpoints/msgrate.h"
#include "zipbench/endpoints/stencil.h"
#include "zipbench/p2p/p2p.h"
#include "zipbench/tune/tune.h"

/* Replaces this process by the program of that command. */
static int become(int argc, char **argv)
{
	char path[BENCH_PATH_MAX];
	(void)argc;
	bench_program(path, argv[0]);
	execv(path, argv);
	zerr_print("zipbench: %s: %s\n", path, strerror(errno));
	return EXIT_FAILURE;
}

static const struct zcommand list[] = {
	{"lat", p2p_main, "latency of messages between two ranks: native, bridged, direct side by side"},
	{"bw", p2p_main, "their bandwidth in one direction"},
	{"bibw", p2p_main, "their bandwidth in both directions together"},
	{"mbw_mr", p2p_main, "bandwidth and message rate of several pairs of ranks"},
	{"overlap", p2p_main, "the share of communication that computation hides"},
	{"coll", become, "collectives of all ranks; to be started by zmpirun or mpiexec"},
	{"cast", cast_main, "multicasts of libzipcast: algorithms, groups, blocks, waiting"},
	{"tune", tune_main, "writes a tuning table from measurements of the collectives"},
#ifdef ZIPBENCH_VERBS
	{"msgrate", msgrate_main, "rate of RDMA writes of many threads, by what they share"},
	{"garray", garray_main, "product of matrices that lie in another process: get, compute, put"},
	{"stencil", stencil_main, "exchange of halos, by processes x threads"},
#endif
	{NULL, NULL, NULL},
};

static const struct zcommands commands = {
	.program = "zipbench",
	.usage = "zipbench COMMAND [OPTION ...]\n",
	.list = list,
};

int main(int argc, char **argv)
{
	zlog_init("zipbench", ZLOG_INFO);
	return zcommands_run(&commands, argc, argv);
}
