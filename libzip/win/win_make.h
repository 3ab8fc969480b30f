/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and ending windows of spanning communicators (MPI-4.0 section 12.2). */
#ifndef ZIP_LIBZIP_WIN_MAKE_H
#define ZIP_LIBZIP_WIN_MAKE_H

#include <mpi.h>

/* Make a window over a communicator that spans; name is the MPI function, for error texts. size in bytes. Collective.
 * MPI_SUCCESS or an error code that has been raised. */
int zwin_make_create(const char *name, void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info, MPI_Comm, MPI_Win *);
/* *(void **)baseptr receives the memory. */
int zwin_make_allocate(const char *name, MPI_Aint size, MPI_Aint disp_unit, MPI_Info, MPI_Comm, void *baseptr,
	MPI_Win *);

#endif
