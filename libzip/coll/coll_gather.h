/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two halves of a gather that other collectives use too: what a part's members have, collected at its leaders, and
 * what comes from another part, put into slots. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_GATHER_H
#define ZIP_LIBZIP_COLL_GATHER_H

#include "libzip/coll/inside/coll_slots.h"

struct zpiece {
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
	int leaders, number; /* it is what leader `number` of so many has collected */
};

/* Collects send buffers in my part, then calls `then`, which adds what is to follow (in a new round): with what is to
 * be sent in one message in a leader, with NULL in the others. Now or, where sizes must be learned first (vector),
 * when the schedule has come so far; all members of the part add the same native steps. leaders: how many there are for
 * so many packed bytes of all members of a part with more than one; NULL: one. coll_gather_part.c */
typedef int zgather_leaders(struct zsched *, void *arg, MPI_Count bytes);
typedef int zgather_then(struct zsched *, void *arg, const struct zpiece *);
int zgather_part(struct zsched *, const struct zcoll *, zgather_leaders *leaders, zgather_then *then, void *arg);

/* Receives that message from the leader of part p of the peers (zsched_peers) into its slots, and adds in a later
 * round, by zgather_finish, what is left to do; *left may be NULL then. */
struct zincoming;
int zgather_recv(struct zsched *, const struct zslots *, int p, struct zincoming **left);
int zgather_finish(struct zsched *, struct zincoming *left);

#endif
