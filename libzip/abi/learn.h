/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from the running library what its family leaves to it, for families with ZABI_LEARNS. */
#ifndef ZIP_LIBZIP_LEARN_H
#define ZIP_LIBZIP_LEARN_H

#include <mpi.h>

struct zabi_natives { /* native functions of these names */
	int (*abi_version)(int *, int *);
	int (*set_elements)(MPI_Status *, MPI_Datatype, MPI_Count);
	int (*set_cancelled)(MPI_Status *, int);
};

/* Asks the running library. Once, after native MPI_Init, before anything else of abi.h; the other threads wait
 * meanwhile. NULL, or why the library cannot be used. */
const char *zabi_learn(const struct zabi_natives *);

#endif
