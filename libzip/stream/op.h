/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A point-to-point operation on a spanning communicator. It is the request behind all sends to remote ranks, and behind
 * all receives that cannot be plain native requests: bridged ones, MPI_ANY_SOURCE, or native ones whose source is to be
 * translated. op_start.h starts operations. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_OP_H
#define ZIP_LIBZIP_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/type/data.h"
#include "libzip/shim/station.h"
#include "libzip/world/req.h"
#include "common/transport/base/transport.h"
#include "libzip/stream/match.h"
#include "libzip/stream/oplist.h"
#include "libzip/stream/stations.h"

struct zchannel;
struct zfetch;
struct zremote;
struct ztied;

enum zop_kind { ZOP_SEND, ZOP_RECV };

/* Copied: standard, but the buffer may be used again at once. Detached: a buffered send of the library itself, which
 * does not count in the buffer that the application has attached. */
enum zsend_mode { ZSEND_STANDARD, ZSEND_SYNC, ZSEND_BUFFERED, ZSEND_COPIED, ZSEND_DETACHED };

/* How the data of a send go. HELD and TIED: see ztied. */
enum ztransfer_group {
	ZTRANSFER_ALONE,
	ZTRANSFER_HELD,	 /* it waits to be posted with other sends of one message */
	ZTRANSFER_TIED,	 /* its fragments go together with those of others, by the carrier */
	ZTRANSFER_LISTED /* its fragments go by the carrier, but alone */
};

/* The event that the next CTS of a receive answers. */
enum ztransfer_answer {
	ZTRANSFER_ANSWERS_RTS,	 /* a request, or nothing new: it grants more */
	ZTRANSFER_ANSWERS_OFFER, /* an offer: the sender has exposed its memory, and waits for the answer to that */
	ZTRANSFER_ANSWERS_LOSS	 /* the loss of its way: it says where the sender is to go on */
};

/* The transfer of an operation's bytes (transfer.h). A send with DONE to come, and a receive of a large message,
 * have an id. */
struct ztransfer {
	uint64_t xfer;		       /* our id; 0: none */
	uint64_t peer_xfer;	       /* the other end's */
	struct zchannel *way;	       /* that it takes; NULL: the remote rank's own */
	uint64_t total;		       /* bytes of the message */
	uint64_t granted;	       /* bytes that may be sent */
	uint64_t moved;		       /* bytes that were sent, or have come */
	struct zrma_exposure exposure; /* of the message's bytes, to be read or written from outside */
	bool exposed;
	struct zfetch *fetch; /* receive: it reads the bytes from the sender's memory (fetch.h); or NULL */
	struct ztied *tied;   /* send: the sends that it is HELD or TIED with; or NULL */
	enum ztransfer_group group;
	enum ztransfer_answer answer;
	bool fanned;  /* send: zipperd has been offered its bytes with those of others, by the carrier */
	bool carried; /* send: its request has gone by the carrier, and so its receiver answers there */
	bool counted; /* send: in the account of its rail (rails.h) */
	/* For the loss of a rail (failover.h): */
	uint64_t seq;  /* send that awaits an answer: of its first message; 0: it is not in the stream yet */
	int32_t epoch; /* tag of the fragments that are sent or taken */
	bool adrift;   /* its way was lost, and the other end has not been heard about it since */
	bool written;  /* receive: its memory was open to a zipper that was lost, which may have written all of it */
};

struct zop {
	struct zreq req; /* first: a zreq of these ops is a zop */
	enum zop_kind kind;
	enum zsend_mode mode;
	enum zcomm_context context;
	int rank; /* destination or source in the communicator; MPI_ANY_SOURCE */
	int tag;  /* MPI_ANY_TAG in receives */
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	bool type_held;	   /* type is one of ours (ztypehold_take): the application may free its own meanwhile */
	struct zdata data; /* receives: bytes is the room */
	uint8_t *packed;   /* the message's bytes where the user's buffer cannot be used; from the pool */

	MPI_Count in_buffer;	    /* bytes that a buffered send takes of the attached buffer */
	struct zattached *attached; /* that buffer, where in_buffer is not 0 */
	MPI_Request native;	    /* native half, or MPI_REQUEST_NULL */
	bool posted;		    /* in the posted queue */
	struct zmatch_posted match;

	struct zremote *remote; /* the rank at the other end; NULL: native MPI, or not known yet */
	struct ztransfer t;
	uint64_t strands; /* bytes that it announces, or has been matched with, in strands (strands.h); 0: none */
	struct zop *next; /* in the one list that it stands in: pending sends, data, grants, fetching */
	bool queued;	  /* it stands in a list */
};

/* The bytes of a message, or where they go, in one piece. NULL: there are none yet. */
static inline uint8_t *zop_bytes(const struct zop *op)
{
	return op->packed ? op->packed : op->data.dense;
}

/* The station that it was made at, and lives. */
static inline struct zstation *zop_station(const struct zop *op)
{
	return &zstations[op->req.station];
}

/* Does the send go on by itself, with a copy of its own? */
static inline bool zop_is_detached(const struct zop *op)
{
	return op->mode == ZSEND_BUFFERED || op->mode == ZSEND_DETACHED;
}

/* The arguments of the application; checked by the caller. */
struct zop_args {
	struct zcomm *comm;
	enum zcomm_context context;
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	int rank, tag;
};

/* Makes an operation that is not started, a request with these functions (zop_start_make has the usual ones).
 * hold_type: keep a reference to the type even where the data are dense. MPI_SUCCESS or an error class. */
int zop_create(struct zop **, const struct zreq_ops *, enum zop_kind, const struct zop_args *, bool hold_type);
/* Frees what an operation owns: its request's destroy function. */
void zop_destroy(struct zreq *);

/* The operation is under way from now on. */
static inline void zop_begin(struct zop *op)
{
	op->req.done = false;
	op->req.active = true;
	op->t.total = op->t.granted = op->t.moved = 0;
}

/* A buffered send of the application begins to use the buffer of its communicator, or ends (attached.h). No effect on
 * other sends (ZSEND_DETACHED). */
void zop_take_buffer(struct zop *);
void zop_give_buffer(struct zop *);

/* Completes a receive: source as vrank, wire bytes. The op may be gone afterwards (orphans). */
void zop_finish_recv(struct zop *, uint32_t source, int tag, uint64_t bytes, int error);
/* Completes a send. */
void zop_finish_send(struct zop *, int error);

/* Puts the payload of a whole message (total bytes, of which some may not fit) into the buffer and completes the
 * receive. flags are those of the envelope. */
void zop_take_eager(struct zop *, uint32_t source, int tag, uint16_t flags, const uint8_t *payload, uint64_t total);
/* Does a message of so many bytes suit this receive? MPI_SUCCESS, MPI_ERR_TRUNCATE, or MPI_ERR_TYPE: MPI_PACKED on one
 * side only, between parts of different representation. */
int zop_check_fit(const struct zop *, uint16_t flags, uint64_t total);

#endif
