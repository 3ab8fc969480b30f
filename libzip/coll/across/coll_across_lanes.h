/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction from one group of an intercommunicator to the other, segment by segment: reduced inside each part of the
 * group that gives, sent by the leaders of the lanes to whoever is to have the sum (one rank; or in every part of the
 * other group the leader of the lane, who spreads it; or in one part its leader, who scatters it), and combined there
 * in the order of the parts. Several can go at a time, in both directions, each as its giving group's size and layout
 * say. Schedules are across (zsched_across) when these are called; everything is in the schedule's memory. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_ACROSS_LANES_H
#define ZIP_LIBZIP_COLL_ACROSS_LANES_H

#include "libzip/coll/coll.h"
#include "common/config/tuning.h"

struct zgiving;
struct ztaking;

enum { ZACROSS_ALL = -1, ZACROSS_SHARE = -2 };

/* A vector of so many elements. which: whose settings count. */
struct zacross_sum {
	enum ztuning_collective which;
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	int to; /* a rank of the group that takes it, ZACROSS_ALL: all of them, ZACROSS_SHARE: one of its leaders */
	/* ZACROSS_SHARE, one lane: for leader `number` of so many in one part of the group that takes, and from those
	 * with the same number. total: elements of all shares, whose size counts. */
	struct {
		int part, leaders, number;
		MPI_Count total;
	} share;
};

/* ZACROSS_SHARE, where it is to go: what the part's members get lies side by side by their ranks in the shadow, member
 * i's from edges[i] to edges[i + 1] ([nlocal + 1], lives as long as the schedule); the share begins at first. */
struct zacross_slots {
	const MPI_Count *edges;
	MPI_Count first;
};

/* In all members of the group that gives. */
int zgiving_create(struct zsched *, const struct zacross_sum *, const void *sendbuf, struct zgiving **);
/* In `to`, or in all members of the group, or of the part, that takes. result: the receive buffer; used only where it
 * is combined or spread. slots: NULL but for a share. */
int ztaking_create(struct zsched *, const struct zacross_sum *, void *result, const struct zacross_slots *,
	struct ztaking **);
/* Adds all rounds of both; there may be none of either. Ends the last round. */
int zacross_run(struct zsched *, struct zgiving **, int ngiving, struct ztaking **, int ntaking);

#endif
