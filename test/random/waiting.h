/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that wait for their completion, and what is done then. An operation completes its requests itself, or leaves
 * them pending for a later operation, which completes those of several operations together.
 */
#ifndef ZIP_RANDOM_WAITING_H
#define ZIP_RANDOM_WAITING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct waiting {
	int n, room;
	bool no_testall; /* MPICH 4.0.2 reports errors of persistent requests where there are none */
	MPI_Request *request;
	struct waiting_end {
		/* Called once all requests are complete, in the order in which they were added. */
		void (*done)(void *context, MPI_Status *status);
		void *context;
	} * end;
};

void waiting_add(struct waiting *w, MPI_Request request, void (*done)(void *context, MPI_Status *status),
	void *context);
/* Completes all requests in a way that the seed chooses, does what is to be done, and empties the list. The seed may
 * differ from rank to rank. */
void waiting_complete(struct waiting *w, uint64_t seed);
/* Moves the requests of another list behind these. */
void waiting_move(struct waiting *to, struct waiting *from);

#endif
