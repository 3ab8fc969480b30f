/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends and receives: a native request where it needs no translation, else one of ours. Under the shim's
 * lock. */
#ifndef ZIP_LIBZIP_PERSISTENT_H
#define ZIP_LIBZIP_PERSISTENT_H

#include "libzip/p2p/p2p.h"

/* Makes the request, inactive. MPI_SUCCESS or an error code that has been raised. */
int zpersistent_send_init(const struct zp2p_args *, enum zp2p_mode, MPI_Request *);
int zpersistent_recv_init(const struct zp2p_args *, MPI_Request *);

#endif
