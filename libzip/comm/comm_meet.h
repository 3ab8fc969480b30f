/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings of the members of a new communicator. A native function that blocks may follow, for which there is no
 * nonblocking one: as all members are there, it keeps nobody else waiting. Waits make progress. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COMM_MEET_H
#define ZIP_LIBZIP_COMM_MEET_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/world/group.h"

/* Waits until all members of this local communicator have come. A native error code. */
int zcomm_meet_local(MPI_Comm local);
/* Waits until all members of the group that are in my part have come here with this id, which all of them know.
 * MPI_SUCCESS or an error code that has been raised. */
int zcomm_meet_group(const struct zgroup *, uint64_t id, const char *name);
/* The meeting of MPI_Comm_create_group, in all parts: the members learn the id of the new communicator. c is the
 * parent; NULL: it is local. MPI_SUCCESS or an error code that has been raised. */
int zcomm_meet_new(struct zcomm *c, const struct zgroup *, int tag, const char *name, int64_t *id);

#endif
