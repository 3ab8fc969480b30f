/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench garray": the product of matrices that lie in a server's memory. */
#ifndef ZIPBENCH_ENDPOINTS_GARRAY_H
#define ZIPBENCH_ENDPOINTS_GARRAY_H

/* Parses its arguments and measures. argv[0]: the subcommand. Returns the exit status. */
int garray_main(int argc, char **argv);

#endif
