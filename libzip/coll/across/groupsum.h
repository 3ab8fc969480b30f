/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction from one group of an intercommunicator to the other: its description, and how its vector is cut. The two
 * sides are giving.h and taking.h, and sums.h carries out several at a time.
 *
 * The vector goes segment by segment (segments.h). A segment is reduced inside each part of the giving group. The
 * leaders of its strip send the parts' sums to the rank that is to have the whole, which combines them in the order of
 * the parts: one rank; or in every part of the taking group the leader of the strip, which spreads it; or in one part a
 * leader, which scatters it. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_GROUPSUM_H
#define ZIP_LIBZIP_GROUPSUM_H

#include "libzip/coll/across/segments.h"
#include "libzip/world/comm.h"

enum { ZGROUPSUM_ALL = -1, ZGROUPSUM_SHARE = -2 };

struct zgroupsum {
	enum ztuning_collective which; /* whose settings count */
	MPI_Count count;	       /* elements */
	MPI_Datatype type;
	MPI_Op op;
	int to; /* a rank of the taking group, ZGROUPSUM_ALL: all of them, ZGROUPSUM_SHARE: a leader of one part */
	/* ZGROUPSUM_SHARE, which has one strip: for leader `number` of `leaders` in that part of the taking group, from
	 * the leaders with the same number. total: elements of all shares, whose size decides. */
	struct {
		int part, leaders, number;
		MPI_Count total;
	} share;
};

/* Cuts the vector, in both groups alike: the settings go by the giving group. */
struct zsegments zgroupsum_cut(const struct zcomm *giving, const struct zcomm *taking, const struct zgroupsum *);
/* The member that leads strip l in a part with n members. */
int zgroupsum_leader(const struct zgroupsum *, const struct zsegments *, int n, int l);

/* Rounds that a message may take. */
int zgroupsum_depth(const struct zsegments *);
/* The number of buffers of a segment's size that are in use at a time, and the one that segment k has. */
int zgroupsum_turns(const struct zsegments *);
int zgroupsum_turn(const struct zsegments *, int k);

#endif
