/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the world: from the environment to sessions with all zippers (rails.h) and a filled zworld. MPI_Init's
 * thread. */
#ifndef ZIP_LIBZIP_JOIN_H
#define ZIP_LIBZIP_JOIN_H

#include <mpi.h>

#include "common/base/err.h"

struct zenv;

/* Proves who we are, joins the job that env names and fills zworld, base communicator included. Native MPI must be
 * initialised. 0 or a negative errno with the reason. Collective over the job, so it may wait for others. */
int zjoin(const struct zenv *, struct zerr *);
/* BYE to all zippers and everything freed; zworld stays readable. */
void zjoin_leave(void);

#endif
