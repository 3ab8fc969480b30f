/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction from one group of an intercommunicator to the other, segment by segment: reduced inside each part of the
 * group that gives, sent by the leaders of the lanes to whoever is to have the sum (one rank; or in every part of the
 * other group the leader of the lane, who spreads it), and combined there in the order of the parts. Both directions
 * can go at a time, each as its giving group's size and layout say. Schedules are across (zsched_across) when these are
 * called; everything is in the schedule's memory. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_ACROSS_LANES_H
#define ZIP_LIBZIP_COLL_ACROSS_LANES_H

#include "coll.h"
#include "tuning.h"

struct zgiving;
struct ztaking;

/* A vector of so many elements. which: whose settings count. */
struct zacross_sum {
	enum ztuning_collective which;
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	int to; /* a rank of the group that takes it, -1: all of them */
};

/* In all members of the group that gives. */
int zgiving_create(struct zsched *, const struct zacross_sum *, const void *sendbuf, struct zgiving **);
/* In `to`, or in all members of the group that takes. result is used only where it is combined or spread. */
int ztaking_create(struct zsched *, const struct zacross_sum *, void *result, struct ztaking **);
/* Adds all rounds of both; either may be NULL. Ends the last round. */
int zacross_run(struct zsched *, struct zgiving *, struct ztaking *);

#endif
