/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between members of a window: their form, and how they are sent. Messages from one member to another stay
 * in order, and the receiver takes them in that order. So an answer FLUSHED tells that everything sent before the FLUSH
 * is complete. Between parts a message travels over the bridge, on a communicator that all windows share and whose
 * ranks are vranks. Within a part only locks and epochs need messages, and these are native. Data too large for the
 * message follow in a message of their own, straight from and to the buffers of both ends.
 *
 *   PUT              data for `count` elements of the type at disp
 *   GET              asks for the data of these elements
 *   ACCUMULATE       data to be folded into these elements by op
 *   GET_ACCUMULATE   the same, and asks for the old contents; with MPI_NO_OP there are no data
 *   SWAP             MPI_Compare_and_swap: two elements, the one to compare and the one to store; asks for the old one
 *   FLUSH            asks for FLUSHED when everything that the sender sent before is complete; F_RELEASE: the sender
 *                    gives its lock back at that moment
 *   FLUSHED          op: class of the first error since the last FLUSHED, by its number between parts; count: number
 *                    of FLUSHs that it answers
 *   LOCK             op: enum zwin_lock_type
 *   GRANT, UNLOCK
 *   POST, COMPLETE   MPI_Win_post and MPI_Win_complete
 *   STIR             native operations on the receiver are under way. They may need the receiver's hands, but do not
 *                    wake it (progress.h).
 *
 * The header has fixed little-endian fields. Behind it stand the description of the type (typecode.h) and the data. The
 * whole is always an eager message. A description too long for that travels before the data (F_APART).
 */
#ifndef ZIP_LIBZIP_WIN_MESSAGE_H
#define ZIP_LIBZIP_WIN_MESSAGE_H

#include "libzip/world/req.h"
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

enum zwin_lock_type { /* MPICH's numbers */
	ZWIN_EXCLUSIVE = 234,
	ZWIN_SHARED = 235,
};

#define ZWIN_F_INSIDE 1u  /* the data are in the message */
#define ZWIN_F_RELEASE 2u /* of FLUSH */
#define ZWIN_F_APART 4u	  /* the description is not in the message */

#define ZWIN_MESSAGE_HEADER 56 /* bytes */

struct zwin_message {
	enum zwin_kind kind;
	uint8_t flags;
	uint32_t op;
	uint32_t number; /* tag of data and description in messages of their own; counted by the origin */
	uint32_t rank;	 /* of the sender in the window */
	uint64_t window;
	int64_t disp;
	uint64_t count;
	uint64_t bytes; /* of the data in their form on the wire */
	uint32_t code_len;
	const uint8_t *code; /* [code_len], or NULL with F_APART */
	const uint8_t *data; /* [bytes] with F_INSIDE */
};

/* The largest data, and the largest description, that travel inside a message: bytes, at most 2048. */
uint64_t zwin_message_inside_bytes(void);

/* The communicator that carries the messages of all windows; its ranks are vranks. NULL: no memory. The contexts of
 * data: THERE to a target, BACK to an origin. */
struct zcomm *zwin_message_carrier(void);
#define ZWIN_THERE ZCOMM_COLL
#define ZWIN_BACK ZCOMM_LEADERS

/* Sends a message to another member; copies the data. sent: receives a request that is complete when a message to
 * another part is on its way; NULL: the caller does not ask. To this rank itself only GRANT, POST and COMPLETE go, and
 * take effect at once. MPI_SUCCESS or an error class. */
int zwin_message_say(struct zwin *, struct zwin_peer *, const struct zwin_message *, struct zreq **sent);
/* The same for a message with nothing but kind, op and flags. */
int zwin_message_tell(struct zwin *, struct zwin_peer *, enum zwin_kind kind, uint32_t op, uint8_t flags);
/* A tag for data that no other operation of this rank under way has. */
uint32_t zwin_message_number(void);

/* Reads a message of len bytes; code and data point into it. False: malformed. */
bool zwin_message_decode(const uint8_t *, uint64_t len, struct zwin_message *);
/* Takes a message that changes nothing but the books about its sender: FLUSHED, GRANT, POST, COMPLETE, STIR. False: the
 * message is of another kind. */
bool zwin_message_note(struct zwin_peer *from, const struct zwin_message *);

/* Looks after native messages that native MPI has not yet sent. True: one has gone. */
bool zwin_message_turn(void);
/* Is there one? */
bool zwin_message_is_pending(void);

#endif
