/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench cast": multicasts of libzipcast among nodes of this process. */
#ifndef ZIPBENCH_CAST_CAST_H
#define ZIPBENCH_CAST_CAST_H

/* Parses its arguments and measures. argv[0]: the subcommand. Returns the exit status. */
int cast_main(int argc, char **argv);

#endif
