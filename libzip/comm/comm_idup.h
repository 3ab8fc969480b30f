/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicating a native communicator as steps of a schedule. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_IDUP_H
#define ZIP_LIBZIP_COMM_IDUP_H

#include <mpi.h>

#include "libzip/comm/comm_outcome.h"

/*
 * Adds rounds that duplicate a native communicator with so many members. start calls MPI_Comm_idup, into *made,
 * which becomes MPI_COMM_NULL if the duplication fails. A failure goes to *o; the schedule goes on without an error, as
 * its other steps must tell the other members. waits: this thread waits for the schedule before it does anything else.
 *
 * Which errors does the native library raise itself? None of the duplication's completion. Those of the call: raises:
 * all; handled: all, unless `over`, which belongs to the application, has the handler MPI_ERRORS_RETURN when the call
 * begins.
 *
 * MPICH 4.0.2 makes one communicator at a time: from the beginning of a duplication until all members have begun it,
 * other duplications of the same process try again in every turn. Where this process is the only member these turns do
 * not even end: MPI_Comm_idup does not return, and takes memory until there is none. So a duplication with one member
 * waits until no other one is under way. One that copies attributes in this thread, in whose callback this one is
 * called and waits, does not count: it has not begun yet.
 *
 * For the others, all members had better be here when it begins, as they may be waiting for each other, over the
 * bridge, for a duplication that has to wait. Before MPICH 5, with one thread, this is left to the program, as in the
 * native library. Duplications of communicators that MPICH 5 numbers (libzip/comm/internal/comm_unnumber.h) begin in
 * the order of libzip/schedule/order.h.
 */
struct zcomm_idup {
	int (*start)(void *arg, MPI_Request *native);
	void *arg;
	MPI_Comm over; /* a native communicator of the members, for collectives */
	MPI_Comm *made;
	struct zcomm_outcome *outcome;
	int members;
	bool numbered, raises, handled, waits;
};
/* MPI_SUCCESS or an error class. */
int zcomm_idup_add(struct zsched *, const struct zcomm_idup *);

/*
 * MPI_Comm_idup copies the attributes of the time of the call (MPI-4.0 section 7.4.2). The native function copies them,
 * and it may begin later: behind other collectives, or in its turn. So a call that changes the attributes waits.
 */
struct zcomm_idup_copy { /* all bytes 0 at first; it stays where it is until zcomm_idup_copied */
	MPI_Comm of;
	struct zcomm_idup_copy *next;
};
/* A nonblocking duplication has been called. of: the native communicator with the attributes. */
void zcomm_idup_due(struct zcomm_idup_copy *, MPI_Comm of);
/* Its native function has copied them. Does nothing without zcomm_idup_due. */
void zcomm_idup_copied(struct zcomm_idup_copy *);
/* Waits, with progress, until all duplications of that communicator have copied them. Says so after some seconds, as
 * other ranks may have to call MPI_Comm_idup first. A thread in a callback of such a duplication does not wait, as
 * those that are due may be behind its own. function: the MPI function that waits. */
void zcomm_idup_wait_copied(MPI_Comm of, const char *function);

#endif
