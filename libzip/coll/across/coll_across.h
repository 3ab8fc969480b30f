/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectives of intercommunicators share (MPI-4.0 section 6.6): how data cross from one group to the other,
 * once for each part that the other group has members in. Schedules are across (zsched_across) when these are called.
 * Inside the groups everything is as for other communicators. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_ACROSS_H
#define ZIP_LIBZIP_COLL_ACROSS_H

#include "libzip/coll/coll.h"

/* In the current round: the same to the leader of every part of the remote group. */
int zacross_send(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype);
/* The same to leader `number`, of so many, of every part. */
int zacross_send_to(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int leaders, int number);
/* The other side of it: my part's leader receives from a rank of the remote group, the next round hands it on to the
 * members of my part. Ends the last round. */
int zacross_spread(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
/* The local group's rank 0 has something for all of the remote group, and the other way round; other ranks' mine does
 * not matter. Ends the last round. */
int zacross_exchange(struct zsched *, const void *mine, MPI_Count nmine, void *theirs, MPI_Count ntheirs, MPI_Datatype);

/* The reductions: coll_across_reduce.c. */
int zacross_reduce(struct zsched *, const struct zcoll *);
int zacross_allreduce(struct zsched *, const struct zcoll *);
/* Does a group's sum come part by part? Both groups answer alike. */
bool zacross_by_part(const struct zcomm *group, MPI_Op);
/* Otherwise: my group's contribution at its rank 0, *mine; NULL elsewhere. */
int zacross_collect(struct zsched *, const struct zcoll *, MPI_Count count, void **mine);
int zacross_reduce_scatter(struct zsched *, const struct zcoll *); /* coll_across_scatter.c */

#endif
