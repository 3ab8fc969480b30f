/* SPDX-License-Identifier: BSD-3-Clause */
/* Native groups and communicators of those members of a group that are in my part. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_NATIVE_H
#define ZIP_LIBZIP_COMM_NATIVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/comm/comm_outcome.h"
#include "libzip/world/comm.h"
#include "libzip/world/group.h"

/* The members of the group in my part, for a native function on comm, of the same session. To be freed, unless it is
 * MPI_GROUP_EMPTY. MPI_SUCCESS, an error class, or a native error code. */
int zcomm_native_group(MPI_Comm comm, const struct zgroup *, MPI_Group *native);
/*
 * Makes a communicator of such a group, as MPI_Comm_create_from_group does, which returns errors. Since MPICH 4.2 local
 * messages on it, and on those made of it, use the buffer of the group's session. A group without a session takes the
 * same way, as other members may have one with a session. A native error code.
 */
int zcomm_native_from_group(MPI_Comm comm, MPI_Group native, int tag, const char *stringtag, MPI_Comm *made);
/*
 * Must follow. Exchanges the communicator for one without a number (libzip/comm/internal/comm_unnumber.h), where the
 * running MPICH has numbers. The members of the group in my part agree first whether all of them have one; all know the
 * id. Where one has not, all have a failure in their outcome, and the caller gives up *native. Where a step of the
 * exchange fails, *native becomes MPI_COMM_NULL at all members, and those where it failed have it in their outcome.
 */
void zcomm_native_settle(const struct zgroup *, uint64_t id, const char *name, struct zcomm_outcome *,
	MPI_Comm *native);
/* The members of the group in my part meet, and make such a communicator by both functions, in the order of the group.
 */
void zcomm_native_create(const struct zgroup *, uint64_t id, const char *name, struct zcomm_outcome *,
	MPI_Comm *native);

/*
 * A communicator that is made of a parent with a number, and has none itself. MPI_Comm_create_group makes it of the
 * internal communicator, so it has neither hints nor an error handler. First each member gets the native group of the
 * members in my part. Then they agree whether all have it, within the part, as other parts may have an MPICH without
 * numbers, and do not take part. MPI_SUCCESS, or an error class: then *members is MPI_GROUP_EMPTY.
 */
int zcomm_native_members(const struct zgroup *, MPI_Group *members);
/* Then they make it, if all have it, and free the group. The id is the same at all of them, and differs from those of
 * groups with common members that are on their way here. A failure goes to the outcome; then *native is MPI_COMM_NULL,
 * as it is where the group is MPI_GROUP_EMPTY. */
void zcomm_native_child(MPI_Group *members, uint64_t id, bool all, struct zcomm_outcome *, MPI_Comm *native);

/* Are all members of the group in this local communicator? Native MPI is given only the members in my part, and would
 * leave out the others. MPI_SUCCESS or an error code that has been raised. */
int zcomm_native_check(MPI_Comm local, const struct zgroup *, const char *name);

#endif
