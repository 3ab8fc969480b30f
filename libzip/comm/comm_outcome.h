/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the making of a communicator, window or file has come to. Each part makes its native object by itself, and one
 * part may fail where the others do not: its native library has no communicators left. So every constructor ends with
 * an agreement. Each member brings the outcome of its own steps, and goes with the same outcome as all others, text
 * included. Where it is a failure, the member gives up what it has made, and then raises the error. Under the shim's
 * lock.
 */
#ifndef ZIP_LIBZIP_COMM_OUTCOME_H
#define ZIP_LIBZIP_COMM_OUTCOME_H

#include <mpi.h>

#include "libzip/schedule/sched.h"

#define ZCOMM_OUTCOME_TEXT 200

/* All bytes 0: success so far. The first ZCOMM_OUTCOME_BYTES are what members tell each other. */
struct zcomm_outcome {
	unsigned char failure; /* 0, or the number of an error class between parts (libzip/abi/abi.h) */
	char text[ZCOMM_OUTCOME_TEXT];
	int own;    /* a code of the application's own, which its callback has returned here, or MPI_SUCCESS */
	int raised; /* a code that the native library has given to the application's error handler here, or MPI_SUCCESS
		     */
};
#define ZCOMM_OUTCOME_BYTES (1 + ZCOMM_OUTCOME_TEXT)

/* Note the failure of a step at this member, unless an earlier one has failed: a class with its text, or what the
 * native library has returned. raised: the native library has called an error handler. MPI_SUCCESS is no failure. */
void zcomm_outcome_note(struct zcomm_outcome *, int class, const char *text);
void zcomm_outcome_note_native(struct zcomm_outcome *, int code, bool raised);
/* MPI_SUCCESS or the error class. */
int zcomm_outcome_class(const struct zcomm_outcome *);

/* Adds the agreement of all members, of both groups in an intercommunicator, to a schedule, behind all other steps:
 * more rounds follow if a member has failed. Then `after` is called as a step. *o stays where it is until the schedule
 * is complete. MPI_SUCCESS or an error class. */
int zcomm_outcome_add(struct zsched *, struct zcomm_outcome *o, int (*after)(struct zsched *, void *arg), void *arg);
/* The agreement as a collective of its own, which waits. */
void zcomm_outcome_agree(struct zcomm *, const char *name, struct zcomm_outcome *);

/* Raises the error of a failure on the communicator. Returns what the MPI function returns. */
int zcomm_outcome_raise(MPI_Comm, const char *name, const struct zcomm_outcome *);

#endif
