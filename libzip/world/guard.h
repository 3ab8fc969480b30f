/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the generated wrappers of class guard and shadow ask about their arguments. Called outside the lock (they take
 * it where they look into tables), with the world merged. All return MPI_SUCCESS, or the error code after the error
 * handler has been called.
 */
#ifndef ZIP_LIBZIP_GUARD_H
#define ZIP_LIBZIP_GUARD_H

#include <mpi.h>
#include <stdbool.h>

/* Local? Otherwise MPI_ERR_UNSUPPORTED_OPERATION naming function. */
int zguard_comm(MPI_Comm, const char *function);
/* Does it span? */
bool zguard_spans(MPI_Comm);
/* All native? */
int zguard_requests(int count, const MPI_Request *, const char *function);
/* Makes the native group of one of ours if all members are local; zguard_group_done frees it (also when unset). */
int zguard_group(MPI_Group, MPI_Group *native, const char *function);
void zguard_group_done(MPI_Group *native);
/* Replaces a native group that a native function returned by one of ours. */
int zguard_group_adopt(MPI_Group *, const char *function);
/* The communicator on which native code finds attributes, errors and hints of this one: its shadow if it spans. */
MPI_Comm zguard_shadow(MPI_Comm);

#endif
