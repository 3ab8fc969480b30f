/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives on spanning communicators. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COLL_INIT_H
#define ZIP_LIBZIP_COLL_INIT_H

#include "libzip/coll/base/coll.h"

/* Makes a persistent request of the collective; an error is raised through the communicator's handler. Collective, as
 * the request gets a communicator of its own. Returns what the MPI function returns. */
int zcoll_init(struct zcomm *, const struct zcoll *, MPI_Request *);

#endif
