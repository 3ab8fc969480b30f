/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How data cross from one group of an intercommunicator to the other (MPI-4.0 section 6.6): once for each part in which
 * the other group has members. Schedules are across (zsched_across) when these functions are called. Inside the groups
 * collectives are done as on other communicators. All functions return MPI_SUCCESS or an error class. Under the shim's
 * lock.
 */
#ifndef ZIP_LIBZIP_ACROSS_H
#define ZIP_LIBZIP_ACROSS_H

#include <mpi.h>

#include "libzip/schedule/sched.h"

/* In the current round: sends the same data to the leader of every part of the remote group. */
int zacross_send(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype);
/* The same to leader `number` of `leaders` in every part. */
int zacross_send_to(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int leaders, int number);
/* The other side of zacross_send: my part's leader receives from rank root of the remote group, and hands the data on
 * to the members of my part in the next round. Ends the last round. */
int zacross_spread(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
/* In both groups: rank 0 has data for all ranks of the remote group. mine counts on rank 0 only. Ends the last round.
 */
int zacross_exchange(struct zsched *, const void *mine, MPI_Count nmine, void *theirs, MPI_Count ntheirs, MPI_Datatype);

#endif
