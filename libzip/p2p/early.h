/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that fail when they are started. MPICH over ch3 looks for the message then. If the message is there and is
 * longer than the buffer, MPI_Irecv returns the error, and neither request nor status. A blocking receive of the
 * application is MPI_Irecv and a wait here. Its status must tell source and tag all the same, as the native MPI_Recv
 * does. So over ch3 zn.Irecv notes what it was asked for. Other libraries are called directly.
 */
#ifndef ZIP_LIBZIP_EARLY_H
#define ZIP_LIBZIP_EARLY_H

#include <mpi.h>

/* Once, after MPI has been initialised, while no other thread is in MPI. */
void zearly_init(void);
/* For a blocking receive whose start has returned that code. Fills the status as far as the call tells: a receive from
 * any source does not name the source. comm: its communicator. Returns the code. */
int zearly_failed(int code, MPI_Comm comm, MPI_Status *status);

#endif
