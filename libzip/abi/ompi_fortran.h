/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory behind own handles. Some Fortran functions of Open MPI do not ask MPI_Request_c2f or MPI_Group_c2f, but read
 * the Fortran handle out of the object that the function of C has returned. So there is one INTEGER for each own
 * handle, at the distance from it at which this version of Open MPI has that member. Called
 * once. Other threads may look at the tables meanwhile, as each function that is asked for a Fortran handle writes its
 * INTEGER anew.
 */
#ifndef ZIP_LIBZIP_OMPI_FORTRAN_H
#define ZIP_LIBZIP_OMPI_FORTRAN_H

#include <mpi.h>

#include "libzip/abi/ompi.h"

/* Finds that distance by objects[n] of Open MPI and their Fortran handles, all different, and maps the memory behind
 * the own handles from `first` on. Each object has so many readable bytes, at most 128. *table: for the number of a
 * handle, where its INTEGER stands. 0, or a negative errno: -ENOENT where the distance is not found. */
int zabi_fortran_map(const void *const *objects, const MPI_Fint *handles, int n, size_t bytes, uintptr_t first,
	MPI_Fint **table);

#endif
