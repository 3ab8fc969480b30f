/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a datatype one piece of memory? Looks at how it was made. That is slow, so type.h keeps the answer. */
#ifndef ZIP_LIBZIP_DENSE_H
#define ZIP_LIBZIP_DENSE_H

#include <mpi.h>
#include <stdbool.h>

/* True if the type map of one element, in its order, is one piece without gaps. Then *start is the displacement of its
 * first byte (0 for an element without bytes). False may also mean that the answer is not known. */
bool zdense_find(MPI_Datatype, MPI_Count *start);

#endif
