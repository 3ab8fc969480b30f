/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was made: its constructor and that one's arguments (MPI-4.0 section 5.1.13). */
#ifndef ZIP_LIBZIP_CONTENT_H
#define ZIP_LIBZIP_CONTENT_H

#include <mpi.h>
#include <stdbool.h>

struct zcontent {
	int combiner;
	bool named; /* a predefined type, also of the MPI_Type_create_f90 family: nothing below is set but their ints */
	int *ints;
	MPI_Aint *aints;
	MPI_Count *counts; /* only of large-count constructors, which have no ints and aints but the order of arrays */
	MPI_Datatype *types;
	MPI_Count nints, naints, ncounts, ntypes;
};

/* An MPI error class; on success free with zcontent_free. */
int zcontent_read(struct zcontent *, MPI_Datatype);
void zcontent_free(struct zcontent *);

#endif
