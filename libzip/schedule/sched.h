/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A schedule: a collective compiled into steps (step.h), which are grouped in rounds. The engine (engine.h) starts all
 * steps of a round together, in the order in which they were added, and starts the next round when they are complete.
 * A blocking call starts its schedule and waits for it; nonblocking and persistent calls put the same schedule behind a
 * request.
 *
 * One schedule of a communicator runs at a time, in the order of the calls: its native steps are collectives on the
 * shadow, whose order must be the same in all members (MPI-4.0 section 6.12). For the same reason a schedule goes on
 * after a step has failed: the other members of the part count on our native steps. The first error is the result.
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_SCHED_H
#define ZIP_LIBZIP_SCHED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "libzip/world/comm.h"
#include "libzip/world/req.h"

struct zsched;

/* A new, empty schedule for one collective call on this communicator. function is the name for messages, as
 * "MPI_Bcast"; it must live for ever. NULL: no memory. */
struct zsched *zsched_create(struct zcomm *, const char *function);
/* Drops a schedule: one that was never started, or one whose request is done. */
void zsched_destroy(struct zsched *);

/* The communicator that the schedule runs on: native steps use its shadow, and messages go among its ranks. For an
 * intercommunicator this is the local group. */
struct zcomm *zsched_comm(const struct zsched *);
/* For an intercommunicator: with true, the sends and receives added from here on are with ranks of the remote group,
 * whether these are in my part or in another one; with false, with ranks of the local group. A step that is a call
 * runs with the setting that it was added with. */
void zsched_across(struct zsched *, bool);
/* The communicator whose ranks the partners of messages and the slots of buffers are now. */
struct zcomm *zsched_partners(const struct zsched *);
/* The intercommunicator, or NULL. */
struct zcomm *zsched_inter(const struct zsched *);
/* Messages use this context and tag instead of ZCOMM_COLL and the communicator's next collective number, and the
 * schedule does not queue behind the communicator's collectives. No step may then be a collective on the shadow. To be
 * called before any step is added. */
void zsched_detach(struct zsched *, enum zcomm_context, int tag);

/* Memory that lives until the schedule is destroyed, aligned for any type. NULL: no memory. */
void *zsched_alloc(struct zsched *, size_t bytes);
/* The MPI call that makes the schedule returns before the schedule is complete. Without this zsched_keep_type and
 * zsched_keep_op do nothing. */
void zsched_set_lasting(struct zsched *);
/* Keeps a derived datatype or an operation usable until the schedule is destroyed, although the application may free
 * it meanwhile (MPI-4.0 sections 5.1.9 and 6.9.7). MPI_SUCCESS or an error class. */
int zsched_keep_type(struct zsched *, MPI_Datatype);
int zsched_keep_op(struct zsched *, MPI_Op);
/* The schedule now owns this datatype of ours, and frees it at its end. On an error the datatype is freed at once.
 * MPI_SUCCESS or an error class. */
int zsched_own_type(struct zsched *, MPI_Datatype);

/* Ends the round: steps that are added from here on belong to the next one. An empty round is no round. */
void zsched_round(struct zsched *);
/* fn is called once when all steps are complete, before the request is done. *error is the result so far, MPI_SUCCESS
 * or an error class; fn may change it, but not into MPI_SUCCESS. fn does not destroy the schedule, but may make its
 * request an orphan. */
void zsched_on_done(struct zsched *, void (*fn)(void *arg, int *error), void *arg);
/* The schedule's request, which can be published. Releasing the request destroys the schedule. */
struct zreq *zsched_request(struct zsched *);

/* Records an error class as the result, unless there is one already. why, which may be NULL, must live for ever. */
void zsched_fail(struct zsched *, int class, const char *why);
/* The same with a text that is kept in the schedule. */
void zsched_fail_text(struct zsched *, int class, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a code of native MPI that has been given to the error handler. */
void zsched_fail_raised(struct zsched *, int class, int code);
/* The same for a code of the application's own, which the error handler is to get. */
void zsched_fail_own(struct zsched *, int class, int code);
/* The same for data from that rank of zsched_partners, which are not as long as expected here. */
void zsched_fail_amount(struct zsched *, int rank, MPI_Count bytes, MPI_Count expected);
/* True once a step has failed. Then data may be missing, and nothing that depends on them need be computed. */
bool zsched_failed(const struct zsched *);
/* MPI_SUCCESS, or the class of the first error. */
int zsched_class(const struct zsched *);
/* The result of its request: MPI_SUCCESS, a class, or a code. *raised: the error handler has had the code. */
int zsched_result(const struct zsched *, bool *raised);
/* The text of the error of a schedule that has failed, for people. */
const char *zsched_error_text(const struct zsched *);

#endif
