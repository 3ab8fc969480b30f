/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A native communicator of this rank alone that raises no errors. Native MPI checks arguments on it: a call that moves
 * nothing returns the error class that the arguments have. (A thread at a station must not hush the handler of the
 * world.) It stays until the end.
 */
#ifndef ZIP_LIBZIP_QUIET_H
#define ZIP_LIBZIP_QUIET_H

#include <mpi.h>

/* The first call belongs into MPI_Init, while no other thread is in MPI. */
MPI_Comm zquiet_comm(void);

#endif
