/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of new communicators. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_HANDLER_H
#define ZIP_LIBZIP_COMM_HANDLER_H

#include <mpi.h>

/* The native communicator `to` gets the error handler of `from`. */
void zcomm_handler_inherit(MPI_Comm from, MPI_Comm to);

#endif
