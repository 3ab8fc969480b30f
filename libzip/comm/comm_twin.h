/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator of our own with the same members as one of the application. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_TWIN_H
#define ZIP_LIBZIP_COMM_TWIN_H

#include "libzip/world/comm.h"

/* Makes a communicator with the same members and the same topology, which the application does not see: nothing that
 * runs on it meets anything on c. Collective over c. The caller has the only reference. NULL: *error is a code that has
 * been raised. */
struct zcomm *zcomm_twin(struct zcomm *c, const char *name, int *error);

#endif
