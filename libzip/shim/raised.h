/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code of a native call whose error a handler of the application has taken. Before version 5 MPICH returns it.
 * MPICH 5 returns MPI_SUCCESS then, and its results are not set: a request that never began, a communicator that is
 * none. Inside the library every native call returns the code, whatever the version.
 *
 * So with MPICH 5 a handler that the application creates is wrapped (without a state in the standard ABI,
 * raised_slots.h). The wrapper notes the code and calls the application's function. Where such a handler exists in a
 * merged world, each zn.X is a form that returns the noted code (generated, znative_checked). The application gets what
 * its library returns: the wrapper of MPI_X turns a code that a handler has taken into MPI_SUCCESS.
 *
 * Any thread, with or without the shim's lock.
 */
#ifndef ZIP_LIBZIP_RAISED_H
#define ZIP_LIBZIP_RAISED_H

#include <mpi.h>

/* The code with which a wrapped handler was called inside the native call under way; MPI_SUCCESS: none was. */
extern __thread int zraised_inside __attribute__((tls_model("initial-exec")));

/* Around a native call. end: was is the result of begin, rc that of the call; returns the code of the call. */
static inline int zraised_begin(void)
{
	const int was = zraised_inside;

	zraised_inside = MPI_SUCCESS;
	return was;
}
static inline int zraised_end(int was, int rc)
{
	if (rc == MPI_SUCCESS)
		rc = zraised_inside;
	zraised_inside = was;
	return rc;
}

/* Notes the code of an error. A wrapper calls it before the handler. */
void zraised_note(int code);

/* The result of an MPI function for the application, made of that code. */
int zraised_taken(int rc);
static inline int zraised_answer(int rc)
{
	return __builtin_expect(rc == MPI_SUCCESS, 1) ? rc : zraised_taken(rc);
}

/* The world has been merged. Called once, before other threads enter. */
void zraised_init(void);

#endif
