/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of communicators. Native MPI has them, on the shadows of those that span. Here are only the keyvals of
 * those on MPI_COMM_SELF and MPI_COMM_WORLD, whose delete callbacks MPI_Finalize runs: native MPI would do so when the
 * merged world is gone, and they may use all of MPI (MPI-4.0 section 11.2.4). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ATTR_H
#define ZIP_LIBZIP_ATTR_H

/* Runs them while the world is still merged: MPI_COMM_SELF's, and then MPI_COMM_WORLD's as MPICH does, each in the
 * reverse order in which they were set. One that fails ends the job, also where errors return: MPI_Finalize of MPICH
 * then returns without having finalized, and mpiexec kills whoever has not ended yet. */
void zattr_delete_last(void);

#endif
