/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members of a window say to each other. From one to another in order, and taken in that order: so who has been
 * answered FLUSHED knows that all before it is complete. Between parts a message is a bridged one of a context that all
 * windows share, whose ranks are vranks; within a part, where only locks and epochs need any, a native one. Data that
 * are too much for the message itself follow in one of their own, straight from and to the buffers of both ends.
 *
 *   PUT              data go to `count` elements of the type at disp
 *   GET              these are sent back
 *   ACCUMULATE       data are folded into them by op
 *   GET_ACCUMULATE   the same, and what was there before is sent back; MPI_NO_OP has no data
 *   SWAP             MPI_Compare_and_swap: two elements, what is compared and what is put; sent back as before
 *   FLUSH            FLUSHED comes when all of the sender's before it is complete; F_RELEASE: and unlocks then
 *   FLUSHED          op: class of the first error since the last one; count: of FLUSH that are answered
 *   LOCK, GRANT, UNLOCK   op of LOCK: MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE
 *   POST, COMPLETE   MPI_Win_post and MPI_Win_complete
 *   STIR             native operations on it come, which may need it and wake nobody (progress.h)
 *
 * The header has fixed little-endian fields, and behind it the description of the type (typecode.h) and the data, so
 * that it is an eager message in any case: a description that is too long for that goes before the data (F_APART).
 */
#ifndef ZIP_LIBZIP_WIN_MESSAGE_H
#define ZIP_LIBZIP_WIN_MESSAGE_H

#include "libzip/world/request.h"
#include "libzip/win/win.h"

enum zwin_kind {
	ZWIN_PUT = 1,
	ZWIN_GET,
	ZWIN_ACCUMULATE,
	ZWIN_GET_ACCUMULATE,
	ZWIN_SWAP,
	ZWIN_FLUSH,
	ZWIN_FLUSHED,
	ZWIN_ASK_LOCK,
	ZWIN_GRANT,
	ZWIN_UNLOCK,
	ZWIN_POST,
	ZWIN_COMPLETE,
	ZWIN_STIR,
};

#define ZWIN_F_INSIDE 1u  /* the data are in the message */
#define ZWIN_F_RELEASE 2u /* of FLUSH */
#define ZWIN_F_APART 4u	  /* the description is not in the message */

struct zwin_message {
	enum zwin_kind kind;
	uint8_t flags;
	uint32_t op;
	uint32_t number; /* tag of what follows in messages of their own; counted by the origin */
	uint32_t rank;	 /* of the sender in the window */
	uint64_t window;
	int64_t disp;
	uint64_t count;
	uint64_t bytes; /* of the data, as they travel */
	uint32_t code_len;
	const uint8_t *code; /* [code_len], or NULL with F_APART */
	const uint8_t *data; /* [bytes] with F_INSIDE */
};

/* Data and description of at most so many bytes each travel inside; no more than 2048. */
uint64_t zwin_inside_bytes(void);

/* Where the messages of all windows run: a communicator of the world, whose ranks are vranks. Of data that go to a
 * target, and of what comes back: */
struct zcomm *zwin_carrier(void); /* NULL: no memory */
#define ZWIN_THERE ZCOMM_COLL
#define ZWIN_BACK ZCOMM_LEADERS

/* Says something to another member; data are copied. sent: of one in another part, a request that is complete when the
 * message is on its way; NULL: nobody asks. An MPI error class. */
int zwin_say(struct zwin *, struct zwin_peer *, const struct zwin_message *, struct zreq **sent);
/* The same of a kind that is all there is to it. */
int zwin_tell(struct zwin *, struct zwin_peer *, enum zwin_kind, uint32_t op, uint8_t flags);
/* A tag for data, not in use by another of mine that is under way. */
uint32_t zwin_number(void);

/* Part of progress while there are windows: takes messages, and goes on with what they have begun. */
bool zwin_turn(void);

#endif
