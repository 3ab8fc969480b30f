/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a schedule and its steps: private to the files of this folder. */
#ifndef ZIP_LIBZIP_SCHED_STATE_H
#define ZIP_LIBZIP_SCHED_STATE_H

#include <stdalign.h>
#include <stdint.h>

#include "libzip/schedule/sched.h"

/* Enough for the steps and arguments of small collectives between three parts, so that these need no further
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
	uint8_t kind; /* enum step_kind */
	bool done;
	bool upto;   /* STEP_RECV: count is a maximum, and *u.got is filled in */
	bool open;   /* the round does not wait for this step */
	bool across; /* partner is a rank of the remote group */
	int round;
	int partner;   /* STEP_CLOSE: number of the open step */
	int open_next; /* see open_head of struct zsched */
	MPI_Datatype type;
	MPI_Request native;
	void *buf; /* or the argument of start, fn or look */
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

struct zarriving { /* a receive over several rounds */
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
	struct zreq req; /* first: the schedule is destroyed as a request */
	const char *function;
	struct zcomm *comm;
	struct zcomm *far; /* the intercommunicator whose local group is comm, or NULL */
	bool across;	   /* the steps that are added now are */
	enum zcomm_context context;
	int tag;
	bool detached, lasting, running;

	int error;	 /* MPI_SUCCESS, or the class of the first error */
	int code;	 /* code of a native call that has already called the error handler, else MPI_SUCCESS */
	int own;	 /* code of the application's that its error handler is to get, else MPI_SUCCESS */
	const char *why; /* text of the error; NULL: see code_text */
	char *code_text; /* text of a bridged message's error, or one with details; in the arena */

	struct zstep *steps;
	int nsteps, cap;
	int begin, end;		  /* the round that runs: steps [begin, end) */
	int open_head, open_tail; /* begun and open steps that are not known to be done: their numbers + 1, 0 ends */
	int round;		  /* number of the round that is being added */

	void (*on_done)(void *arg, int *error);
	void *on_done_arg;

	struct zsched *queue_next;		  /* the communicator's queue */
	struct zsched *active_prev, *active_next; /* schedules that may run */
	unsigned pass;				  /* the last pass of zengine_progress that has seen this schedule */

	struct kept_type *types;
	MPI_Op op; /* held, or 0 */
	struct chunk *chunks;
	size_t used; /* bytes of the arena */
	struct zstep inline_steps[INLINE_STEPS];
	alignas(max_align_t) char arena[INLINE_BYTES];
};

#endif
