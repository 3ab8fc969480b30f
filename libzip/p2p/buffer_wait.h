/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting until an attached buffer has room for a bridged message. Under the shim's lock. */
#ifndef ZIP_LIBZIP_BUFFER_WAIT_H
#define ZIP_LIBZIP_BUFFER_WAIT_H

#include <mpi.h>
#include <stdbool.h>

/* A buffered send of this message on the communicator has found no room (attached.h). Waits a little for the bridged
 * messages under way. True: there is room now. Another rank may know that a message was received before this rank
 * knows. */
struct zcomm;
bool zbuffer_wait(const struct zcomm *, const void *buf, MPI_Count count, MPI_Datatype);

#endif
