/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of predefined datatypes. Their places are on the wire. */
#ifndef ZIP_LIBZIP_TYPECODE_NAMED_H
#define ZIP_LIBZIP_TYPECODE_NAMED_H

#include <mpi.h>

/* The place of a predefined datatype in the table, -1 for other types; and the datatype of a place, MPI_DATATYPE_NULL
 * for a place without one here. */
int ztypecode_named_find(MPI_Datatype);
MPI_Datatype ztypecode_named(MPI_Count place);

#endif
