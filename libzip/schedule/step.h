/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adding steps to the current round of a schedule (sched.h). Buffers belong to the caller and must stay until the
 * schedule is complete. Ranks are those of zsched_partners. All functions that return int return MPI_SUCCESS or an
 * error class, unless they say something else. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_STEP_H
#define ZIP_LIBZIP_STEP_H

#include <stdint.h>

#include "libzip/schedule/sched.h"

/* A bridged message to that rank. */
int zstep_send(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int dest);
/* Sends the same message to n ranks: as one message where that is possible (libzip/bridge/multicast.h), else as one to
 * each. dest is copied. A receiver of the one message that grants nothing more for patience_ms while others do is sent
 * to alone from then on. */
int zstep_multicast(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, const int *dest, int n,
	int64_t patience_ms);
/* A bridged message from that rank. A message of another size than expected is the schedule's error. */
int zstep_recv(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int source);
/* The same for a message of at most so many bytes. *got is their number when the step is done, 0 if it failed. */
int zstep_recv_upto(struct zsched *, void *buf, MPI_Count bytes, int source, MPI_Count *got);

/* A bridged receive over several rounds, for overlap. This round posts it and does not wait for it; zstep_await waits
 * for the bytes. The last zstep_await of a receive must be for all its bytes, also where the receive fails. On an
 * intercommunicator the source must be in another part. NULL: no memory. */
struct zarriving *zstep_recv_bytes(struct zsched *, void *buf, MPI_Count bytes, int source);
/* Waits until so many bytes from the beginning are there, or no more will come. */
int zstep_await(struct zsched *, struct zarriving *, MPI_Count bytes);

/* A native nonblocking operation. start is called when the round begins, and fills the native request;
 * MPI_REQUEST_NULL means that there is nothing to wait for. start returns a native error code. */
int zstep_native(struct zsched *, int (*start)(void *arg, MPI_Request *native), void *arg);
/* A step that others end without a message. look is called when the round begins, and then in every turn of progress
 * until it returns true. It adds no steps and runs no callbacks of the application. */
int zstep_watch(struct zsched *, bool (*look)(struct zsched *, void *arg), void *arg);
/* Local work (a reduction, a copy, packing): fn is called when the round begins, and the step is done at once. fn may
 * add further rounds, at the end, and may run callbacks of the application. It returns MPI_SUCCESS or an error class.
 */
int zstep_call(struct zsched *, int (*fn)(struct zsched *, void *arg), void *arg);

/* The number that the step that is added next will have. */
int zstep_next(const struct zsched *);
/* Is the step of that number done? For the look function of zstep_watch. */
bool zstep_is_done(const struct zsched *, int step);
/* Leaves the step that was added last open: its round begins the step and does not wait for it. Returns its number.
 * Every open step must be closed in this round or a later one. */
int zstep_open(struct zsched *);
/* Leaves all steps of the current round from that number on open. */
void zstep_open_from(struct zsched *, int step);
/* Adds a step that waits for the open step of that number. */
int zstep_close(struct zsched *, int step);

#endif
