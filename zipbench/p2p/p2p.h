/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench lat", "bw", "bibw", "mbw_mr" and "overlap": messages between pairs of ranks, by several ways side by side.
 */
#ifndef ZIPBENCH_P2P_P2P_H
#define ZIPBENCH_P2P_P2P_H

/* argv[0] is the name of the benchmark. Returns the exit status. */
int p2p_main(int argc, char **argv);

#endif
