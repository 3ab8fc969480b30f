/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce among one leader of each part, over the bridge, in stages. Each stage has the steps of one round, so that
 * several segments of a vector can go through the stages as a pipeline. All ways combine neighbouring parts in their
 * order, so that every leader gets the same bits, and operations need not commute. With n bytes and P parts:
 *
 *   all        every leader sends to every other one: one crossing after the other, P * (P - 1) * n bytes in all
 *   doubling   recursive doubling: log2 P crossings, P * log2 P * n bytes; if P is no power of two, 2 crossings more
 *              and fewer bytes
 *   slices     each leader combines one slice for all: two crossings, 2 * (P - 1) * n bytes, which is the least
 *              possible. Where the parts pass the slices on (plan.h), the second crossing is as many as the plan of one
 *              block has steps
 *
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_BETWEEN_H
#define ZIP_LIBZIP_BETWEEN_H

#include <mpi.h>

#include "common/config/tuning.h"
#include "libzip/schedule/sched.h"

struct zbetween;

/* I am leader `number` of `leaders` in my part, and my partners are the leaders of that number in the other parts.
 * longest: elements of the longest segment. depth: rounds that the messages of a stage may take. In the schedule's
 * memory; NULL: no memory. */
struct zbetween *zbetween_create(struct zsched *, const struct ztuning_settings *, int leaders, int number, int depth,
	MPI_Count longest, MPI_Datatype, MPI_Op);
/* The number of stages, at least one: the same in all ranks of the communicator. */
int zbetween_stages(const struct zsched *, const struct ztuning_settings *);
/* Adds a stage, counted from 1, of segment i to the current round. result has my part's contribution. The stage behind
 * the last one is local work alone; after it result is the result. Segments begin a stage in consecutive rounds, and
 * each begins the next stage depth rounds later. In one round the later stage is added first. MPI_SUCCESS or an error
 * class. */
int zbetween_add(struct zsched *, struct zbetween *, int i, int stage, void *result, MPI_Count count);
/* To be called in the last of the depth rounds of that stage: waits for its messages. MPI_SUCCESS or an error class. */
int zbetween_land(struct zsched *, const struct zbetween *, int i, int stage);

#endif
