/* SPDX-License-Identifier: BSD-3-Clause */
/* Used by all subcommands of zipbench: errors, clocks, and where its programs lie. */
#ifndef ZIPBENCH_BASE_BENCH_H
#define ZIPBENCH_BASE_BENCH_H

#include <stdbool.h>

#include "common/base/err.h"

#define BENCH_PATH_MAX 4096
/* Fills path, of BENCH_PATH_MAX bytes, with the path of the file of that name in this program's folder. False: there is
 * none that can be executed. */
bool bench_beside(char *path, const char *name);
/* The path of zipbench-COMMAND: beside this program in the build tree, below libexec when installed. */
void bench_program(char *path, const char *command);

/* The path of the zmpirun of the same installation or build tree; otherwise its name, for PATH. */
void bench_zmpirun(char *path);

/* Prints one line on stderr. EXIT_FAILURE. */
int bench_fail(const char *command, const struct zerr *);
double bench_now(void);		/* seconds, monotonic */
double bench_cpu_seconds(void); /* processor time of all threads so far */

#endif
