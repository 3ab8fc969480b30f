/* SPDX-License-Identifier: BSD-3-Clause */
/* Native groups and communicators of those members of a group that are in my part. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_NATIVE_H
#define ZIP_LIBZIP_COMM_NATIVE_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/world/group.h"

/* The members of the group in my part, for a native function on comm, of the same session. To be freed, unless it is
 * MPI_GROUP_EMPTY. MPI_SUCCESS, an error class, or a native error code. */
int zcomm_native_group(MPI_Comm comm, const struct zgroup *, MPI_Group *native);
/* Makes a communicator of such a group, as MPI_Comm_create_from_group does. Since MPICH 4.2 local messages on it, and
 * on those made of it, use the buffer of the group's session. A group without a session takes the same way, as other
 * members may have one with a session. A native error code. */
int zcomm_native_from_group(MPI_Comm comm, MPI_Group native, int tag, const char *stringtag, MPI_Comm *made);
/*
 * After a native constructor, other than a duplication, on the shadow of a spanning communicator: exchanges what it has
 * made for a communicator without a number, if the parent has one. It has the same members in the same order, and the
 * same handler, but no hints.
 *
 * MPICH 5 numbers each communicator that comes from MPI_COMM_WORLD, for the choice of a virtual communication interface
 * (VCI). It broadcasts the number at the end of MPI_Comm_idup, within the progress of whatever call is made. Two such
 * duplications with common members hang where these end them in different order. A communicator of MPI_Intercomm_merge
 * has no number, nor have those that come from it; they use the first VCI. So MPI_COMM_WORLD and its duplicates alone
 * are numbered here, and the duplications of these have an order (comm_idup.h).
 *
 * Collective over *made, which may be MPI_COMM_NULL. Without the shim's lock. rc: what the constructor returned; with
 * an error nothing is done. Returns a native error code; then *made is MPI_COMM_NULL.
 */
int zcomm_native_unnumber(const struct zcomm *parent, int rc, MPI_Comm *made);
/* Are all members of the group in this local communicator? Native MPI is given only the members in my part, and would
 * leave out the others. MPI_SUCCESS or an error code that has been raised. */
int zcomm_native_check(MPI_Comm local, const struct zgroup *, const char *name);
/* Makes a native communicator of the members in my part, in the order of the group, which returns errors. All of them
 * have met (zcomm_meet_group). A native error code; then *native is MPI_COMM_NULL. */
int zcomm_native_create(const struct zgroup *, uint64_t id, MPI_Comm *native);

#endif
