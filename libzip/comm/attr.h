/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of communicators. Native MPI keeps them, on the shadows of spanning communicators. This module keeps only
 * the keyvals of attributes on MPI_COMM_SELF and MPI_COMM_WORLD, whose delete callbacks MPI_Finalize runs. Native MPI
 * would run these when the merged world is gone, and they may use all of MPI (MPI-4.0 section 11.2.4). Under the shim's
 * lock.
 *
 * MPI_APPNUM, MPI_UNIVERSE_SIZE and MPI_TAG_UB are those of the merged world, on every communicator on which MPICH has
 * them.
 */
#ifndef ZIP_LIBZIP_ATTR_H
#define ZIP_LIBZIP_ATTR_H

#include <stdbool.h>

/* Sets the attributes of the merged world. appnum -1: as the native job has it. universe 0: there is none.
 * tag_ub 0: as the native job has it. */
void zattr_init(int appnum, int universe, int tag_ub);
/* Runs the delete callbacks while the world is still merged: those on MPI_COMM_SELF, and then those on MPI_COMM_WORLD,
 * as MPICH does, each in the reverse order in which the attributes were set. A callback that fails ends the job, also
 * where errors return: MPI_Finalize of MPICH then returns without having finalized, and mpiexec kills the ranks that
 * have not ended yet. */
void zattr_delete_last(void);

/* Is there an attribute whose delete callback MPI_Finalize would run? */
bool zattr_any_last(void);

#endif
