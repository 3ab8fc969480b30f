/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are not of this world: children of MPI_Comm_spawn, and other jobs that MPI_Comm_connect, _accept or
 * _join have reached. They may call native functions alone, or through another world, and know nothing of our meetings.
 * A blocking collective never matches a nonblocking one (MPI-4.0 section 6.12), so that on a communicator with such a
 * member the native function must be the one that the program has called. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FOREIGN_H
#define ZIP_LIBZIP_FOREIGN_H

#include <mpi.h>
#include <stdbool.h>

/* This process has come to know one. */
void zforeign_meet(void);
/* Has a local communicator such a member, in either group? Costs a comparison, and only after zforeign_meet groups of
 * the communicator's size. The members that are of this world agree, as they have met the process together. */
bool zforeign_in(MPI_Comm local);

#endif
