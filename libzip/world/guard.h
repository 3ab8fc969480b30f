/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks that generated wrappers of class guard and shadow make on their arguments. Called outside the lock, with
 * the world merged; they take the lock where they look into tables. They return MPI_SUCCESS, or the error code after
 * the error handler has been called.
 */
#ifndef ZIP_LIBZIP_GUARD_H
#define ZIP_LIBZIP_GUARD_H

#include <mpi.h>
#include <stdbool.h>

/* Is the communicator local? Else MPI_ERR_UNSUPPORTED_OPERATION with the name of the function. */
int zguard_comm(MPI_Comm, const char *function);
/* Does the communicator span? */
bool zguard_spans(MPI_Comm);
/* Are all requests native? */
int zguard_requests(int count, const MPI_Request *, const char *function);
/* Makes the native group of a group of ours if all members are local. zguard_group_done frees it, also when unset. */
int zguard_group(MPI_Group, MPI_Group *native, const char *function);
void zguard_group_done(MPI_Group *native);
/* Replaces the native group that a native function has returned by a group of ours. */
int zguard_group_adopt(MPI_Group *, const char *function);
/* Raises MPI_ERR_ARG for an argument that is a null pointer: on the communicator (MPI_COMM_NULL is itself the error),
 * the window, or the file. */
int zguard_null_comm(MPI_Comm, const char *function, const char *argument);
int zguard_null_win(MPI_Win, const char *function, const char *argument);
int zguard_null_file(MPI_File, const char *function, const char *argument);
/* The communicator on which native code finds the attributes, errors and hints of this one: the shadow if it spans. */
MPI_Comm zguard_shadow(MPI_Comm);

#endif
