/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Scan and MPI_Exscan where the ranks of each part are consecutive. After a native scan inside, the last member has
 * the part's total. The total goes to all later parts. These combine the totals of the parts before them, spread this
 * prefix inside, and every member puts the prefix in front of its own result. Segments go through these stages as a
 * pipeline, several of them side by side (segments.h). A strip comes in at its leader, counted from the first member as
 * elsewhere. It goes out from a member that is counted from the last one, as that has the totals. Under the shim's
 * lock.
 */
#ifndef ZIP_LIBZIP_SCAN_STRIPS_H
#define ZIP_LIBZIP_SCAN_STRIPS_H

#include "libzip/coll/base/coll.h"

/* Builds the schedule from sendbuf, recvbuf, recvcount, recvtype and op. Ends the last round. MPI_SUCCESS or an error
 * class. */
int zscan_strips_build(struct zsched *, const struct zcoll *, bool exclusive);

#endif
