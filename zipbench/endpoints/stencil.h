/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench stencil": the exchange of halos by processes x threads. */
#ifndef ZIPBENCH_ENDPOINTS_STENCIL_H
#define ZIPBENCH_ENDPOINTS_STENCIL_H

/* Parses its arguments and measures. argv[0]: the subcommand. Returns the exit status. */
int stencil_main(int argc, char **argv);

#endif
