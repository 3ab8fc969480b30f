/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipbench: measurements with subcommands. A subcommand parses its own arguments, prints what it measures, and returns
 * the exit status. Those that are MPI programs are executables of their own, zipbench-NAME, which zipbench becomes:
 * whatever started it starts them.
 */
#ifndef ZIPBENCH_H
#define ZIPBENCH_H

#include <stdbool.h>

#include "zipbench/args.h"
#include "common/base/err.h"

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv); /* argv[0] is the name; NULL: zipbench-NAME */
};

int cast_main(int argc, char **argv);
int tune_main(int argc, char **argv);
int msgrate_main(int argc, char **argv);
int garray_main(int argc, char **argv);
int stencil_main(int argc, char **argv);

#define BENCH_EXIT_USAGE ARGS_EXIT_USAGE

#define BENCH_PATH_MAX 4096
/* path: of BENCH_PATH_MAX bytes. That of that file in the folder of this program; false: it is none that can be
 * executed. */
bool bench_beside(char *path, const char *name);
/* Where zipbench-COMMAND is: beside this program in the build tree, below libexec where it is installed. */
void bench_program(char *path, const char *command);

/* One line on stderr; EXIT_FAILURE. */
int bench_fail(const char *command, const struct zerr *);
double bench_now(void); /* seconds, monotonic */

#endif
