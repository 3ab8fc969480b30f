/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce among one leader of each part, over the bridge, in stages: each has steps of one round, so that several
 * segments of a vector can go through them as a pipeline. All ways combine neighbouring parts in their order, so that
 * every leader gets the same bits and operations need not commute. n bytes and P parts:
 *
 *   all        everybody sends to everybody: one crossing after the other, P * (P - 1) * n bytes in all
 *   doubling   recursive doubling: log2 P, between all P * log2 P * n (with others than powers of two 2 more, and less)
 *   slices     each combines one slice for all: two, 2 * (P - 1) * n, which is the least that there can be; where the
 *              parts pass the slices on (coll_plan.h), the second one is as many as the plan of one block has steps
 *
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_BETWEEN_H
#define ZIP_LIBZIP_COLL_BETWEEN_H

#include <mpi.h>

#include "libzip/coll/coll.h"
#include "common/config/tuning.h"

struct zbetween;

/* leaders, number: mine is that one of so many in my part, and its peers have the same number. longest: elements of the
 * longest segment; depth: rounds that the messages of a stage may take. In the schedule's memory; NULL: no memory. */
struct zbetween *zbetween_create(struct zsched *, const struct ztuning_settings *, int leaders, int number, int depth,
	MPI_Count longest, MPI_Datatype, MPI_Op);
/* How many stages there are, at least one: the same in all ranks of the communicator. */
int zbetween_stages(const struct zsched *, const struct ztuning_settings *);
/* Adds stage 1 to stages of segment i to the current round; result has my part's contribution. Number stages + 1 is
 * local work alone: after it result is the result. Segments begin a stage in consecutive rounds, each begins the next
 * one depth rounds later, and in a round the later stage is added first. */
int zbetween_add(struct zsched *, struct zbetween *, int i, int stage, void *result, MPI_Count count);
/* In the last of the depth rounds of that stage: waits for its messages. */
int zbetween_land(struct zsched *, const struct zbetween *, int i, int stage);

#endif
