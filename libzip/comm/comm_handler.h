/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of new communicators. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_HANDLER_H
#define ZIP_LIBZIP_COMM_HANDLER_H

#include <mpi.h>

#include "libzip/world/comm.h"

/* The native communicator `to` gets the error handler of `from`. */
void zcomm_handler_inherit(MPI_Comm from, MPI_Comm to);
/* The native communicator `to`, which has no handler, gets the parent's as in a native MPI_Comm_split: it stays without
 * one where the parent has none of its own. */
void zcomm_handler_pass(const struct zcomm *parent, MPI_Comm to);

#endif
