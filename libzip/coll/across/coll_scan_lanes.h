/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Scan and MPI_Exscan where the ranks of each part are consecutive: native scan inside, whose last member then has
 * the part's total. That goes to all later parts, which combine what comes from those before them, spread that prefix
 * inside, and every member puts it in front. Segments go through these stages as a pipeline, several of them side by
 * side. A lane is led by one member where it comes in, counted from the first one as everywhere, and where it goes out
 * by one that is counted from the last, who is the one that has the totals. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_SCAN_LANES_H
#define ZIP_LIBZIP_COLL_SCAN_LANES_H

#include "libzip/coll/coll.h"

/* sendbuf, recvbuf, recvcount, recvtype, op. Ends the last round. */
int zscan_build_lanes(struct zsched *, const struct zcoll *, bool exclusive);

#endif
