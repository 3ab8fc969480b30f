/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program as its messages in order: for each rank a list of operations, each of which begins when the one before it
 * is done. Nonblocking operations begin a message, and a later wait ends it. One thread.
 */
#ifndef ZIP_MAPPER_PROGRAM_H
#define ZIP_MAPPER_PROGRAM_H

#include <stdint.h>

#include "common/base/err.h"
#include "mapper/base/names.h"

#define PROGRAM_RANKS_MAX (1u << 24)
#define PROGRAM_OPS_MAX (1u << 29)	      /* of all ranks: 16 GiB */
#define PROGRAM_BYTES_MAX (UINT64_C(1) << 52) /* of one message */
#define PROGRAM_SECONDS_MAX 1e12	      /* of computing of one rank, in all */
#define PROGRAM_NONE UINT32_MAX

enum program_kind {
	PROGRAM_COMPUTE,
	PROGRAM_SEND, /* begins a message to peer */
	PROGRAM_RECV, /* is ready for a message from peer; PROGRAM_NONE: it was never known from whom */
	PROGRAM_PUT,  /* begins to write to peer, which need not do anything */
	PROGRAM_GET,  /* begins to read from peer */
	PROGRAM_WAIT, /* for the operation in a slot */
	PROGRAM_PHASE /* the following belongs to a phase */
};

struct program_op {
	enum program_kind kind;
	uint32_t peer; /* a rank; the number of a phase */
	uint32_t slot; /* where the operation is kept until the wait; below program_rank.slots */
	uint32_t line; /* of the file; 0: none */
	uint64_t key;  /* a receive takes messages with the same key: tag and communicator */
	union {
		uint64_t bytes;
		double seconds; /* of COMPUTE */
	};
};

/* An operation that has begun: the number that its file has for it. */
struct program_request {
	uint64_t number;
	uint32_t slot, at; /* slot: PROGRAM_NONE: no request is here; at: index of program_rank.op */
};

struct program_rank {
	struct program_op *op; /* [n] */
	uint32_t n, slots;
	double seconds;		      /* of computing */
	struct program_request *open; /* [opens], a hash table by number, with open addressing */
	uint32_t nopen, opens;	      /* requests in it; opens: 0 or a power of two, at least twice as large */
	uint32_t *unused;	      /* [nunused]: slots below `slots` */
	uint32_t nunused;
};

struct program {
	uint32_t ranks;
	uint32_t ops;		   /* of all ranks; at most PROGRAM_OPS_MAX */
	uint64_t bytes;		   /* of all messages */
	struct program_rank *rank; /* [ranks] */
	struct names phases; /* phase 0 is there from the beginning, and has the name "1", as in zipmap.graph(5) */
	char *where;	     /* the file's name */
};

/* Makes an empty program. 0, -ENOMEM, -EINVAL (too many ranks, or none). Free with program_free in any case. */
int program_create(struct program *, const char *where, uint32_t ranks, struct zerr *);
void program_free(struct program *);

/* These append to a rank, and return 0 or a negative errno with the reason. */
int program_compute(struct program *, uint32_t rank, double seconds, uint32_t line, struct zerr *);
int program_phase(struct program *, uint32_t rank, const char *name, uint32_t line, struct zerr *);
/* SEND, RECV, PUT or GET, to be waited for later. op->slot becomes the slot. */
int program_begin(struct program *, uint32_t rank, struct program_op *, struct zerr *);
/* The same, known by a number until the wait; -EEXIST: the number is still in use. */
int program_begin_numbered(struct program *, uint32_t rank, struct program_op *, uint64_t number, struct zerr *);
/* Waits for a slot; it may be used again. */
int program_wait(struct program *, uint32_t rank, uint32_t slot, uint32_t line, struct zerr *);
/* Waits for a number; -ENOENT: nothing with that number has begun. */
int program_wait_numbered(struct program *, uint32_t rank, uint64_t number, uint32_t line, struct zerr *);
/* The operation with a number becomes none, and nothing waits for it. Nothing with that number has begun: no effect. */
void program_cancel(struct program *, uint32_t rank, uint64_t number);
/* Sets the sender of the receive with a number, before the wait. -ENOENT: no receive with that number has begun. */
int program_tell(struct program *, uint32_t rank, uint64_t number, uint32_t peer, uint64_t key, struct zerr *);
/* program_begin and program_wait. */
int program_do(struct program *, uint32_t rank, struct program_op *, struct zerr *);

#endif
