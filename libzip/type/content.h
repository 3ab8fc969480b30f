/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was made: its constructor and the constructor's arguments (MPI-4.0 section 5.1.13). */
#ifndef ZIP_LIBZIP_CONTENT_H
#define ZIP_LIBZIP_CONTENT_H

#include <mpi.h>
#include <stdbool.h>

struct zcontent {
	int combiner;
	bool named; /* a predefined type, also of the MPI_Type_create_f90 family: only the ints of that family are set
		       below */
	int *ints;
	MPI_Aint *aints;
	MPI_Count *counts; /* large-count constructors alone; these have no ints and aints except the order of arrays */
	MPI_Datatype *types;
	MPI_Count nints, naints, ncounts, ntypes;
};

/* MPI_SUCCESS or an error class; on success the caller calls zcontent_free. */
int zcontent_read(struct zcontent *, MPI_Datatype);
void zcontent_free(struct zcontent *);

#endif
