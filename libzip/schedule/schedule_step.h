/* SPDX-License-Identifier: BSD-3-Clause */
/* What a schedule consists of: shared by the files of the engine, nobody else's business. */
#ifndef ZIP_LIBZIP_SCHEDULE_STEP_H
#define ZIP_LIBZIP_SCHEDULE_STEP_H

#include <stdalign.h>
#include <stdint.h>

#include "libzip/schedule/schedule.h"

/* Enough for the steps and arguments of the small collectives of three parts without another
 * allocation. */
#define INLINE_STEPS 12
#define INLINE_BYTES 1536

enum step_kind {
	STEP_SEND,
	STEP_MULTICAST,
	STEP_RECV,
	STEP_ARRIVING,
	STEP_AWAIT,
	STEP_NATIVE,
	STEP_WATCH,
	STEP_CALL,
	STEP_CLOSE
};

struct zstep {
	uint8_t kind;
	bool done;
	bool upto;   /* STEP_RECV: count is a maximum, got is filled */
	bool open;   /* its round does not wait for it */
	bool across; /* peer is a rank of the remote group */
	int round;
	int peer;      /* STEP_CLOSE: number of the step */
	int open_next; /* see open_head of zsched */
	MPI_Datatype type;
	MPI_Request native;
	void *buf; /* or the argument of start, fn, look */
	MPI_Count count;
	union {
		int (*start)(void *arg, MPI_Request *native);
		int (*fn)(struct zsched *, void *arg);
		bool (*look)(struct zsched *, void *arg);
		MPI_Count *got;
		const struct zreceivers *to;
	} u;
	struct zreq *req;
};

struct zreceivers { /* of a multicast */
	int64_t patience_ms;
	int n;
	int dest[];
};

struct zarriving {
	void *buf;
	MPI_Count bytes;
	struct zreq *req; /* NULL: not posted yet, or complete */
	bool complete;
};

struct chunk {
	struct chunk *next;
	alignas(max_align_t) char bytes[];
};

struct kept_type {
	struct kept_type *next;
	MPI_Datatype type;
	bool ours;
};

struct zsched {
	struct zreq req; /* first: destroyed as a request */
	const char *function;
	struct zcomm *comm;
	struct zcomm *far; /* the intercommunicator whose local group comm is, or NULL */
	bool across;	   /* what is added now is */
	enum zcomm_context context;
	int tag;
	bool detached, lasting, running;

	int error;	 /* MPI_SUCCESS, or the class of the first error */
	int code;	 /* of a native call that has already called the error handler, else MPI_SUCCESS */
	const char *why; /* NULL: see code_text */
	char *code_text; /* text of a bridged message's error, or that says more than why; in the arena */

	struct zstep *steps;
	int nsteps, cap;
	int begin, end;		  /* the round that runs: steps [begin, end) */
	int open_head, open_tail; /* steps that are begun, open and not known to be done: their numbers + 1, 0 ends */
	int round;		  /* number of the round that is being added */

	void (*on_done)(void *arg, int *error);
	void *on_done_arg;

	struct zsched *queue_next;		  /* the communicator's queue */
	struct zsched *active_prev, *active_next; /* schedules that may run */
	unsigned pass;				  /* of zsched_progress that has seen it */

	struct kept_type *types;
	MPI_Op op; /* held, or 0 */
	struct chunk *chunks;
	size_t used;
	struct zstep inline_steps[INLINE_STEPS];
	alignas(max_align_t) char arena[INLINE_BYTES];
};

/* A new step of the current round, zeroed but for kind and round. NULL: no memory. */
struct zstep *zstep_add(struct zsched *, enum step_kind);
/* Begins the step of that number: it may be done then. A call may add steps, which moves them. */
void zstep_start(struct zsched *, int i);
/* Looks at one that has begun. Its error is the schedule's. */
bool zstep_done(struct zsched *, struct zstep *);
/* Of a schedule that has failed, for people. */
const char *zstep_error_text(const struct zsched *);

#endif
