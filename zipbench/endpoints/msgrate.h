/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench msgrate": the rate of small RDMA writes of several threads. */
#ifndef ZIPBENCH_ENDPOINTS_MSGRATE_H
#define ZIPBENCH_ENDPOINTS_MSGRATE_H

/* Parses its arguments and measures. argv[0]: the subcommand. Returns the exit status. */
int msgrate_main(int argc, char **argv);

#endif
