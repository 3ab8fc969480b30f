/* SPDX-License-Identifier: BSD-3-Clause */
/* What a family leaves to its libraries, for families with ZABI_LEARNS. */
#ifndef ZIP_LIBZIP_LEARN_H
#define ZIP_LIBZIP_LEARN_H

#include <mpi.h>
#include <stdbool.h>

struct zabi_natives {
	int (*set_elements)(MPI_Status *, MPI_Datatype, MPI_Count);
	int (*set_cancelled)(MPI_Status *, int);
};

/* Asks the running library. Once, after native MPI_Init, before anything else of abi.h; the other threads wait
 * meanwhile. False: its statuses are of no form that we can write. */
bool zabi_learn(const struct zabi_natives *);

#endif
