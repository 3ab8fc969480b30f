/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error handlers that the application sets and asks for, and two that are hushed now and then so that native MPI
 * raises nothing: the handler of errors without an object around tests, and that of MPI_FILE_NULL while files are
 * opened. Setting or asking for a handler meanwhile, in a callback or another thread, concerns the hushed one.
 *
 * Errors without an object belong to MPI_COMM_WORLD in MPI-3.1, and to MPI_COMM_SELF since MPI-4.0 (section 9.3). MPICH
 * raises them there since 4.2, and on MPI_COMM_WORLD as long as the application has given MPI_COMM_SELF no handler.
 * This communicator is called home here. MPI_Testany raises the error of a request at home with every version; MPI_Test
 * and MPI_Wait raise it on the request's own communicator since 4.2, and before that if the request is persistent. A
 * blocking call of the application, which is a nonblocking one here, has to raise on its own communicator. So the
 * caller hushes home and raises the error itself.
 *
 * Under the shim's lock, with exceptions that are named.
 */
#ifndef ZIP_LIBZIP_HANDLERS_H
#define ZIP_LIBZIP_HANDLERS_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/abi/abi.h"

extern bool zhandlers_differ; /* the application has given communicators different handlers */

/* The communicator on which the running MPICH raises errors without an object. */
MPI_Comm zhandlers_home(void);
/* Does the running MPICH raise the errors of MPI_Wait and MPI_Test on the request's own communicator? Else at home, but
 * for persistent requests. */
bool zhandlers_own(void);
/* Exchanges the handler of home for MPI_ERRORS_RETURN, and puts it back. Calls may nest. Any thread. */
void zhandlers_hush_home(void);
void zhandlers_unhush_home(void);
/* The same where handlers differ; where all communicators have the same one, it does nothing. True: it is hushed, and
 * the caller has to call unhush with that result. */
static inline bool zhandlers_hush(void)
{
	if (__builtin_expect(!zhandlers_differ, 1))
		return false;
	zhandlers_hush_home();
	return true;
}
static inline void zhandlers_unhush(bool hushed)
{
	if (__builtin_expect(hushed, 0))
		zhandlers_unhush_home();
}

/* The same for MPI_FILE_NULL, whose handler native MPI calls, and gives to each file that it opens. unhush gives the
 * hushed handler to the opened file, unless that is MPI_FILE_NULL. */
void zhandlers_hush_files(void);
void zhandlers_unhush_files(MPI_File opened);

/* Around native MPI's call of a handler, of a file or of anything else: shows the hushed handler of that kind, and
 * hides it again. The other kind stays hushed, for what other threads do meanwhile. */
void zhandlers_show(bool of_file);
void zhandlers_hide(bool of_file);

/* Around a native constructor on a communicator, whose errors the caller raises when all parts have agreed. own: the
 * communicator has a handler of its own even where that is MPI_ERRORS_ARE_FATAL. MPICH gives a communicator without one
 * the handler of home, and so do its children. With one thread no handler is called in between. With several threads
 * nothing is done, as others may use the communicator: then `raises` says whether native MPI calls a handler. */
struct zhandlers_quiet {
	MPI_Comm on;
	MPI_Errhandler kept; /* MPI_ERRHANDLER_NULL: nothing is set aside on the communicator itself */
	bool home, raises;
};
void zhandlers_quiet_begin(struct zhandlers_quiet *, MPI_Comm on, bool own);
/* Puts the handler back. The new communicator `made`, which native MPI has given the handler of `on`, gets it as well;
 * MPI_COMM_NULL: there is none. */
void zhandlers_quiet_end(struct zhandlers_quiet *, MPI_Comm made);

/* Is it a handler of MPI's, and none of the application's? */
bool zhandlers_is_predefined(MPI_Errhandler);
/* Does it end the job? */
static inline bool zhandlers_ends_job(MPI_Errhandler handler)
{
	return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
}

#endif
