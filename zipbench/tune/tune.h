/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench tune": measures settings of collectives, and writes a tuning table. */
#ifndef ZIPBENCH_TUNE_TUNE_H
#define ZIPBENCH_TUNE_TUNE_H

/* Parses its arguments and measures. argv[0]: the subcommand. Returns the exit status. */
int tune_main(int argc, char **argv);

#endif
