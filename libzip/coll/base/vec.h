/* SPDX-License-Identifier: BSD-3-Clause */
/* An array of counts or displacements that the application passes: int, or MPI_Count and MPI_Aint in the _c forms of
 * the MPI functions. */
#ifndef ZIP_LIBZIP_VEC_H
#define ZIP_LIBZIP_VEC_H

#include <mpi.h>
#include <stdbool.h>

struct zvec {
	const void *p;
	bool is_int;
};
_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8 && sizeof(int) == 4, "struct zvec tells by size");
#define ZVEC(array) ((struct zvec){(array), sizeof *(array) == sizeof(int)})
static inline MPI_Count zvec_get(struct zvec v, int i)
{
	return v.is_int ? ((const int *)v.p)[i] : ((const MPI_Count *)v.p)[i];
}

#endif
