/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that the application may free while something still uses them (MPI-4.0 section 5.1.9). They stay, under
 * the application's own handle: reduction operations are called with the handle and compare it (section 6.9.5). Under
 * the shim's lock; a datatype that is held at a station is released there.
 */
#ifndef ZIP_LIBZIP_TYPEHOLD_H
#define ZIP_LIBZIP_TYPEHOLD_H

#include <mpi.h>

/* Holds a datatype. A predefined one need not be held. MPI_SUCCESS or MPI_ERR_NO_MEM. */
int ztypehold_take(MPI_Datatype);
void ztypehold_release(MPI_Datatype);
/* MPI_Type_free by the application, in a thread that has the library as a whole. Returns native MPI's result. A held
 * datatype is freed natively later, by the next call or by ztypehold_reap. */
int ztypehold_free(MPI_Datatype *);
/* Frees a datatype of the library that only operations of this station use. */
void ztypehold_drop(MPI_Datatype);
/* Frees the datatypes that are no longer held. May run callbacks of the application. */
void ztypehold_reap(void);

#endif
