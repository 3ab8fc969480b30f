/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the world: from the environment to sessions with all zippers (rails.h) and a filled zworld. In the thread of
 * MPI_Init. */
#ifndef ZIP_LIBZIP_JOIN_H
#define ZIP_LIBZIP_JOIN_H

#include <mpi.h>

#include "common/base/err.h"

struct zenv;

/* Proves this rank's identity, joins the job that env names and fills zworld, base communicator included. Native MPI
 * must be initialised. Collective over the job, so it may wait for others. 0 or a negative errno with the reason. */
int zjoin(const struct zenv *, struct zerr *);
/* Says BYE to all zippers and frees everything; zworld stays readable. */
void zjoin_leave(void);

#endif
