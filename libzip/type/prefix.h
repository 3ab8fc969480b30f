/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that end within an element of a datatype. */
#ifndef ZIP_LIBZIP_PREFIX_H
#define ZIP_LIBZIP_PREFIX_H

#include <mpi.h>
#include <stdint.h>

/* How many of the first bytes of an element, packed in this part's representation, belong to whole predefined elements?
 * A pair as MPI_DOUBLE_INT is one of these, as in native MPI. *bytes is at most the size of the datatype. MPI_SUCCESS,
 * or an error class with *bytes unchanged. */
int zprefix_whole(MPI_Datatype, uint64_t *bytes);

#endif
