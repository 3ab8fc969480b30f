/* SPDX-License-Identifier: BSD-3-Clause */
/* How the members of an intercommunicator agree on a new communicator, as comm_agree.h. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_HEAR_H
#define ZIP_LIBZIP_INTER_HEAR_H

#include "libzip/comm/comm_agree.h"

/* As zcomm_agree_hear. *all has the numbers of the local group by rank, then those of the remote group. */
int zinter_hear(struct zcomm *, const char *name, const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT]);

#endif
