/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are not of this world: children of MPI_Comm_spawn, and other jobs that MPI_Comm_connect, _accept or
 * _join have reached. Such a process calls native functions directly, or belongs to another world. It takes no part in
 * our meetings. A blocking collective never matches a nonblocking one (MPI-4.0 section 6.12), so that on a communicator
 * with such a member the native function must be the one that the program has called. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FOREIGN_H
#define ZIP_LIBZIP_FOREIGN_H

#include <mpi.h>
#include <stdbool.h>

/* This process has come to know one. */
void zforeign_meet(void);
/* Has a local communicator such a member, in either group? Before zforeign_meet this costs one comparison; after it, a
 * group as large as the communicator. The members that are of this world agree, as they have met the process together.
 */
bool zforeign_in(MPI_Comm local);
/* Has a native group such a member? Frees the group. */
bool zforeign_in_group(MPI_Group);

#endif
