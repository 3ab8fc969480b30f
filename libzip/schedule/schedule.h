/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule engine: a collective compiled into steps, grouped in rounds; all steps of a round
 * are started together, in the order in which they were added, and the next round starts when they
 * are complete. Blocking = start + wait; nonblocking and persistent are the same schedule behind a
 * request. One schedule of a communicator runs at a time, in the order of the calls: the native
 * steps are collectives on the shadow, whose order must be the same everywhere (MPI-4.0
 * section 6.12). For the same reason a schedule goes on after a step has failed: the other members
 * of the part count on our native steps; the first error is the result. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_SCHEDULE_H
#define ZIP_LIBZIP_SCHEDULE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/world/request.h"

struct zsched;

/* A new, empty schedule for one collective call on comm. function: "MPI_Bcast", for messages. NULL:
 * no memory. */
struct zsched *zsched_create(struct zcomm *, const char *function);
/* Drops a schedule that was not started. */
void zsched_destroy(struct zsched *);
/* Where it runs: native steps on its shadow, messages among its ranks. For an intercommunicator the local group. */
struct zcomm *zsched_comm(const struct zsched *);

/* Of an intercommunicator: from here on sends and receives are (or are no more) with ranks of the remote group, whether
 * these are in my part or in another one. Calls run as they were added. */
void zsched_across(struct zsched *, bool);
/* The communicator that peers of messages and slots of buffers are ranks of now. */
struct zcomm *zsched_peers(const struct zsched *);
/* The intercommunicator, or NULL. */
struct zcomm *zsched_inter(const struct zsched *);

/* Bridged steps use this context and tag instead of ZCOMM_COLL and the communicator's next
 * collective number, and the schedule does not queue behind the communicator's collectives (no step
 * may then be a collective on the shadow). Before any step is added. */
void zsched_detach(struct zsched *, enum zcomm_context, int tag);

/* Memory that lives until the schedule is destroyed, aligned for any type. NULL: no memory. */
void *zsched_alloc(struct zsched *, size_t bytes);
/* The call that makes the schedule returns before it is complete: zsched_keep_* then have an
 * effect. */
void zsched_set_lasting(struct zsched *);
/* Keeps a derived datatype or an operation usable until the schedule is destroyed although the
 * application may free it meanwhile (MPI-4.0 sections 5.1.9 and 6.9.7). */
int zsched_keep_type(struct zsched *, MPI_Datatype);
int zsched_keep_op(struct zsched *, MPI_Op);
/* Frees a datatype of ours with the schedule. */
int zsched_own_type(struct zsched *, MPI_Datatype);

/* Steps of the current round. Buffers are the caller's until completion. All return MPI_SUCCESS or
 * an error class. */
int zsched_send(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int dest); /* bridged */
/* The same message to n members, in one where that is possible (multicast.h). dest is copied. */
int zsched_multicast(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, const int *dest, int n,
	int64_t patience_ms);
/* A message of another size than expected is the schedule's error. */
int zsched_recv(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int source); /* bridged */
/* At most bytes; how many came is in *got (0 if it failed). */
int zsched_recv_upto(struct zsched *, void *buf, MPI_Count bytes, int source, MPI_Count *got);
/* A bridged receive over several rounds, for overlap (from across: of another part): posted in this round, which does
 * not wait for it; what has come is waited for by zsched_await, at last (also if it is an error) with all bytes. NULL:
 * no memory. */
struct zarriving *zsched_recv_bytes(struct zsched *, void *buf, MPI_Count bytes, int source);
/* Waits until so many bytes from the beginning are there, or no more will come. */
int zsched_await(struct zsched *, struct zarriving *, MPI_Count bytes);
/* A native nonblocking operation; start is called when the round begins and fills the native
 * request (or leaves MPI_REQUEST_NULL: nothing to wait for). Returns the native error code. */
int zsched_native(struct zsched *, int (*start)(void *arg, MPI_Request *native), void *arg);
/* Is the step of that number done? For zsched_watch. */
bool zsched_is_done(const struct zsched *, int step);
/* What others do without a message: look is called when the round begins, and then in every turn of progress until it
 * returns true. It adds no steps and runs no callbacks. */
int zsched_watch(struct zsched *, bool (*look)(struct zsched *, void *arg), void *arg);
/* The step that was added last is left open: its round begins it and does not wait for it. Returns its
 * number for zsched_close, which adds a step that waits for it; every open step must be closed in this or
 * a later round. */
int zsched_open(struct zsched *);
/* The same for all steps of the current round from that number on; zsched_steps: that of the step that comes next. */
int zsched_steps(const struct zsched *);
void zsched_open_from(struct zsched *, int step);
int zsched_close(struct zsched *, int step);
/* Local work (reduction, copy, packing): called when the round begins, done at once. It may add
 * further rounds (at the end). Returns MPI_SUCCESS or an error class. It may run callbacks of the
 * application. */
int zsched_call(struct zsched *, int (*fn)(struct zsched *, void *arg), void *arg);
/* Ends the round. */
void zsched_round(struct zsched *);
/* Called once when all steps are complete, before the request is done. *error is the result so far:
 * MPI_SUCCESS or an error class, and may be changed, but not into MPI_SUCCESS. fn does not destroy the schedule, but
 * may make its request an orphan.
 */
void zsched_on_done(struct zsched *, void (*fn)(void *arg, int *error), void *arg);
/* Records an error class as the result, unless there is one. why must live for ever. */
void zsched_fail(struct zsched *, int class, const char *why);
/* The same with a text that is kept. */
void zsched_fail_text(struct zsched *, int class, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Data of that rank, of zsched_peers, are not as long as expected here. */
void zsched_fail_amount(struct zsched *, int rank, MPI_Count bytes, MPI_Count expected);
/* Has a step failed? Then data may be missing, and what depends on it need not be computed. */
bool zsched_failed(const struct zsched *);

/* Its request, for publishing; releasing it destroys the schedule. */
struct zreq *zsched_request(struct zsched *);
/* Hands the schedule to progress: it may be complete (and, where on_done makes its request an orphan, gone) on return.
 */
void zsched_start(struct zsched *);
/* Start, wait, raise errors through comm's handler, destroy. Returns what the MPI function returns.
 */
int zsched_run(struct zsched *);
/* What this thread does on that communicator until it is called with NULL is called from a step of a schedule there, as
 * an attribute callback: zsched_run, which would wait for the end of that, is an error. Returns what was so before. */
const struct zcomm *zsched_within(const struct zcomm *);

/* Called by zprogress_poll. Returns whether anything happened. */
bool zsched_progress(void);

#endif
