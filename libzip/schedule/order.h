/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One order of native duplications for all processes of a cluster. MPICH 5 ends some of them by a step that blocks
 * until all members take it, within the progress of whatever call is made (libzip/comm/internal/comm_unnumber.h): two
 * such duplications with common members hang where one member comes to the last step of the first, and another one to
 * that of the second. So each process begins them one after the other, in an order that all agree on.
 *
 * The order is that of numbers, which grow: each member proposes the next one of its own, and the highest is taken
 * (D. Skeen's total order; K. Birman and T. Joseph, "Reliable communication in the presence of failures", ACM TOCS
 * 1987). The members meet before they propose, so that nobody waits for a member that the program has not brought here.
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ORDER_H
#define ZIP_LIBZIP_ORDER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/schedule/sched.h"

struct zorder { /* the place of a duplication; memory of its schedule */
	MPI_Comm over;
	uint64_t number; /* proposed: the final one is not lower */
	uint64_t said, heard;
	bool final;
	struct zorder *next;
};

/* Adds rounds that find the place. over: a native communicator of the members, for collectives. zorder_leave
 * must follow. MPI_SUCCESS or an error class. */
int zorder_add(struct zsched *, struct zorder *, MPI_Comm over);
/* Is it this process's turn? */
bool zorder_is_first(const struct zorder *);
void zorder_leave(struct zorder *);

#endif
