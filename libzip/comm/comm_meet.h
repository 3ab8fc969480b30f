/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings of the members of a new communicator. A native function that blocks may follow, for which there is no
 * nonblocking one: as all members are there, it keeps nobody else waiting. Waits make progress. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COMM_MEET_H
#define ZIP_LIBZIP_COMM_MEET_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/comm/comm_outcome.h"
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
/* As zcomm_outcome_agree, for the members of a group of any communicator c that spans. All of them call this with the
 * same group and tag. */
void zcomm_meet_agree(struct zcomm *c, const struct zgroup *, int tag, const char *name, struct zcomm_outcome *);
/* The same for those members of the group that are in my part, with an id that all of them know. */
void zcomm_meet_agree_here(const struct zgroup *, uint64_t id, const char *name, struct zcomm_outcome *);
/* Do all members of this local communicator say true? Collective over it; waits with progress. */
bool zcomm_meet_all(MPI_Comm local, bool mine);
/* The same about their outcomes: is none a failure? The failure of one member is not told to the others. */
bool zcomm_meet_outcome(MPI_Comm local, struct zcomm_outcome *);

#endif
