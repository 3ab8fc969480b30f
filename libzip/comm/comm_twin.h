/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator of our own with the same members as one of the application. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_TWIN_H
#define ZIP_LIBZIP_COMM_TWIN_H

#include "libzip/comm/comm_outcome.h"
#include "libzip/world/comm.h"

/* Makes a communicator with the same members and the same topology, which the application does not see: nothing that
 * runs on it meets anything on c. Collective over c. The caller has the only reference. NULL: the members
 * have agreed on the failure in *outcome, which has not been raised. */
struct zcomm *zcomm_twin(struct zcomm *c, const char *name, struct zcomm_outcome *);

#endif
