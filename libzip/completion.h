/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for and testing single requests, native or ours. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMPLETION_H
#define ZIP_LIBZIP_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>

#include "request.h"

/* The handle that native MPI gives for every send that was complete when the call returned, if it has one for them all:
 * nothing is behind it that would have to be freed, so that a blocking send is over with it. */
extern MPI_Request zcompletion_sent;
void zcompletion_init(void); /* finds it; once native MPI is initialised */

/* Waits for one request of either kind and delivers it as MPI_Wait does; name for errors. */
int zcompletion_wait(MPI_Request *, MPI_Status *, const char *name);
int zcompletion_wait_native(MPI_Request *, MPI_Status *);
/* The same as MPI_Test, without a turn of progress. */
int zcompletion_test(MPI_Request *, int *flag, MPI_Status *, const char *name);

/* Gives the status of a request that is done to the application and the request back. Returns its error, which has
 * not been raised. The status' MPI_ERROR is left alone (MPI-4.0 section 3.2.5). */
int zcompletion_deliver(struct zreq *, MPI_Request *, MPI_Status *);
/* Raises an error that a request of comm ended with. Errors of native MPI have been raised there. Returns its code. */
int zcompletion_raise(const struct zcomm *, int error, const char *name);
/* Persistent and not started, or not persistent at all? */
static inline bool zcompletion_is_inactive(const struct zreq *r)
{
	return r->persistent && !r->active;
}

#endif
