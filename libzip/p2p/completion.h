/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for and testing single requests, native or ours. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMPLETION_H
#define ZIP_LIBZIP_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/world/req.h"

/* The handle that native MPI gives for every send that was complete when the call returned, if one handle serves all of
 * them; else MPI_REQUEST_NULL. Nothing behind it has to be freed, so a blocking send ends with it. */
extern MPI_Request zcompletion_sent;
void zcompletion_init(void); /* finds that handle; once native MPI is initialised */

/* The application has made native persistent collectives or partitioned operations, and MPI_Testall does not know them
 * (ZVERSION_TESTALL), see completions.c. */
extern bool zcompletions_testall_fails;

/* Waits for one request of either kind and delivers it as MPI_Wait does. Errors are raised on the communicator `on`:
 * that of a blocking call; MPI_COMM_NULL: where the running MPICH raises errors of MPI_Wait (handlers.h). name is the
 * MPI function. */
int zcompletion_wait(MPI_Request *, MPI_Status *, MPI_Comm on, const char *name);
int zcompletion_wait_native(MPI_Request *, MPI_Status *, MPI_Comm on, const char *name);
/* As MPI_Test, but without a turn of progress, and raises nothing, see zcompletion_raise. */
int zcompletion_look(MPI_Request *, int *flag, MPI_Status *);

/* Gives the status of a request that is done to the application, and frees the request. Returns its error, which has
 * been raised if r->raised or zcompletion_is_raised say so. The status' MPI_ERROR is left alone (MPI-4.0
 * section 3.2.5). */
int zcompletion_deliver(struct zreq *, MPI_Request *, MPI_Status *);
/* Text on the request's error beyond the class, before it is delivered; "": nothing. */
#define ZCOMPLETION_TEXT_BYTES 256
void zcompletion_describe(const struct zreq *, char text[ZCOMPLETION_TEXT_BYTES]);
/* Is it a code of native MPI, whose handler has been called? A class is not, nor is a code of the application's own. */
bool zcompletion_is_raised(int error);
/* The communicator on which calls that complete one of several requests raise the error of that one of ours. */
MPI_Comm zcompletion_raised_on(const struct zreq *);
/* Raises the error that a request ended with, unless zcompletion_is_raised, with that text, or with the class' own
 * where it is "". Not for a request whose error has been raised. Returns the code. */
int zcompletion_raise(MPI_Comm on, int error, const char *name, const char *text);
/* Delivers the request and raises its error. */
int zcompletion_finish(struct zreq *, MPI_Request *, MPI_Status *, MPI_Comm on, const char *name);
/* Is it persistent and not started? */
static inline bool zcompletion_is_inactive(const struct zreq *r)
{
	return r->persistent && !r->active;
}

#endif
