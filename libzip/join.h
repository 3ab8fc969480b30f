/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the world: from the environment to a control link at zipperd and a filled zworld. MPI_Init's thread. */
#ifndef ZIP_LIBZIP_JOIN_H
#define ZIP_LIBZIP_JOIN_H

#include <mpi.h>

#include "addr.h"
#include "control.h"
#include "err.h"
#include "session.h"

struct zenv;

/* Proves who we are, joins the job that env names and fills zworld, base communicator included. Native MPI must be
 * initialised. 0 or a negative errno with the reason. Collective over the job, so it may wait for others. */
int zjoin(const struct zenv *, struct zerr *);
/* The control link that zipperd speaks to us on (OPEN, DEAD); NULL before zjoin and after zjoin_leave. */
struct zsession *zjoin_session(void);
/* What a data channel needs (zsession_attach). Valid after zjoin. */
const struct zaddr *zjoin_zipper(void);
const uint8_t *zjoin_token(void); /* [ZCTL_TOKEN_BYTES] */
const char *zjoin_job(void);	  /* "" where there is none */
/* Tells zipperd that the job ends with this code; nothing where we have not joined. */
void zjoin_abort(int code, const char *text);
/* BYE on the control link and everything freed; zworld stays readable. */
void zjoin_leave(void);

#endif
