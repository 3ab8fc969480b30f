/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that the application may free while something still uses them (MPI-4.0, section 5.1.9): they stay, under
 * the application's own handle, which its operations are called with and compare (section 6.9.5). Under the shim's
 * lock; what is held at a station is released there.
 */
#ifndef ZIP_LIBZIP_TYPEHOLD_H
#define ZIP_LIBZIP_TYPEHOLD_H

#include <mpi.h>

/* MPI_SUCCESS or MPI_ERR_NO_MEM. One that is predefined need not be held. */
int ztypehold_take(MPI_Datatype);
void ztypehold_release(MPI_Datatype);
/* MPI_Type_free by the application, for who has the library as a whole. What native MPI says; of a datatype that is
 * held it is asked later, by the next call or by ztypehold_reap. */
int ztypehold_free(MPI_Datatype *);
/* One of ours, which nobody knows but what was begun at this station. */
void ztypehold_drop(MPI_Datatype);
/* Frees those that are held no more. May run callbacks of the application. */
void ztypehold_reap(void);

#endif
