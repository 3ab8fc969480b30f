/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of sequenced messages (EAGER, RTS) with another station, the peer. Sending: numbers, copies that are kept
 * until they are acknowledged, the window, and refusal by zipperd (NAK, RESUME). Receiving: order and acknowledgements.
 * Messages of one stream may take different tracks (rails.h), and so may arrive out of order; early ones are held. This
 * module only keeps the books: its callers ask what to post, and post it. Under the shim's lock. No MPI in here.
 */
#ifndef ZIP_LIBZIP_PEER_H
#define ZIP_LIBZIP_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

/* Sender's window: the limit of unacknowledged messages and bytes. 256 messages of 1 KiB fill 256 KiB. That is several
 * round trips of small messages through zipperd, and bounds the messages that zipperd may have to refuse. */
#define ZPEER_WINDOW_MSGS 256u
#define ZPEER_WINDOW_BYTES (256u << 10)
/* The receiver sends a pure ACK after so many messages or bytes with nothing to carry the acknowledgement: an eighth
 * and a quarter of the window, so that a steady stream never stops. */
#define ZPEER_ACK_MSGS 32u
#define ZPEER_ACK_BYTES (64u << 10)

struct zpeer_msg { /* one retained message, or one that has come early; from the pool */
	struct zpeer_msg *next;
	void *way;	      /* the way of the message, the caller's; NULL: the usual way. Each way keeps its order */
	uint64_t posted;      /* number among the postings of this stream; 0: not posted */
	struct zwire_env env; /* seq is set by zpeer_push */
	uint8_t payload[];    /* env.len bytes */
};

struct zpeer {
	/* sending */
	uint64_t last;		       /* seq of the newest message */
	uint64_t acked;		       /* highest seq that the peer has taken */
	struct zpeer_msg *head, *tail; /* messages acked + 1 to last */
	struct zpeer_msg *unsent; /* the first message that must be posted, perhaps again; NULL: none. Messages behind
				     it may have been posted */
	uint64_t bytes;		  /* payload of all messages that are kept */
	uint64_t postings;
	uint64_t refused; /* NAKed seq; 0: none. Nothing is posted before RESUME */
	bool halted;	  /* nothing is posted: a way was lost, and the peer has not said yet which messages it has */
	bool gone;	  /* the peer has left (BYE): messages to it are dropped */
	/* receiving */
	uint64_t taken;		 /* highest seq taken in order */
	uint64_t ack_told;	 /* highest taken seq that the peer knows of */
	uint32_t owed_bytes;	 /* payload taken since the last acknowledgement */
	struct zpeer_msg *early; /* list by seq: messages that have come before one in front of them */
};

/* May one more message of len payload bytes go into the window? An empty window takes any. */
static inline bool zpeer_has_room(const struct zpeer *p, uint32_t len)
{
	uint64_t msgs = p->last - p->acked;

	return msgs == 0 || (msgs < ZPEER_WINDOW_MSGS && p->bytes + len <= ZPEER_WINDOW_BYTES);
}

/* Makes a message with a copy of its payload (env.len bytes), to go the usual way, not posted. NULL: no memory. */
struct zpeer_msg *zpeer_msg_create(const struct zwire_env *, const void *payload);
/* Appends a message, which the peer owns from now on, and numbers it. */
void zpeer_push(struct zpeer *, struct zpeer_msg *);
/* The next message to post, or NULL. */
static inline struct zpeer_msg *zpeer_unsent(const struct zpeer *p)
{
	return p->refused || p->halted ? NULL : p->unsent;
}
/* That message, from zpeer_unsent, has been posted. */
void zpeer_sent(struct zpeer *, struct zpeer_msg *);
/* The peer has taken everything up to seq: frees those messages and returns their number. A seq that makes no sense is
 * ignored. */
uint32_t zpeer_acked(struct zpeer *, uint64_t seq);
/* The zipperd on that way has refused seq, and has dropped the messages behind it. Ignored if seq did not go that
 * way. */
void zpeer_nak(struct zpeer *, uint64_t seq, const void *way);
/* zipperd has room again: posting goes on from the refused message. False: nothing was refused. */
bool zpeer_resume(struct zpeer *);
/* Ways are lost: messages that went by them are to be posted again, the usual way and without a key. usual: the new
 * usual way if the old one is lost, else NULL. Refusals are forgotten: a zipperd that still refuses will say so
 * again. */
void zpeer_reroute(struct zpeer *, bool (*is_lost)(const void *way, const void *ctx), const void *ctx,
	const void *usual);
/* The same for early messages: those that came by lost ways are dropped, as they will come again. The usual way of
 * receiving may be another than that of sending. */
void zpeer_drop_early(struct zpeer *, bool (*is_lost)(const void *way, const void *ctx), const void *ctx,
	const void *usual);
/* The peer has left. Returns the number of messages freed. */
uint32_t zpeer_leave(struct zpeer *);

enum zpeer_verdict {
	ZPEER_TAKE, /* next in order; zpeer_take when it has been taken */
	ZPEER_DUP,  /* it was taken before: drop it, and acknowledge again */
	ZPEER_GAP,  /* a message before it is missing */
};
enum zpeer_verdict zpeer_check(const struct zpeer *, uint64_t seq);
void zpeer_take(struct zpeer *, uint32_t len);
/* Holds a message with a gap before it; the peer owns it from now on. False: the same message is held already. */
bool zpeer_hold(struct zpeer *, struct zpeer_msg *);
/* Takes out the held message that is next in order; the caller owns it. NULL: there is none. */
struct zpeer_msg *zpeer_next_held(struct zpeer *);
/* Frees all messages of a peer that will not be used any more. */
void zpeer_clear(struct zpeer *);
/* A duplicate came: the peer has not heard our acknowledgement, so it is due at once. */
static inline void zpeer_repeat_ack(struct zpeer *p)
{
	p->ack_told = p->taken - ZPEER_ACK_MSGS;
}
/* Has anything been taken that the peer does not know of? */
static inline bool zpeer_owes_ack(const struct zpeer *p)
{
	return p->ack_told != p->taken;
}
/* Is it so much that the acknowledgement should not wait for a message to carry it? */
static inline bool zpeer_ack_is_due(const struct zpeer *p)
{
	return p->taken - p->ack_told >= ZPEER_ACK_MSGS || p->owed_bytes >= ZPEER_ACK_BYTES;
}
/* The value for the ack field of a message that is about to be posted. */
static inline uint64_t zpeer_ack_value(const struct zpeer *p)
{
	return p->taken;
}
/* A message with that value has been posted. */
static inline void zpeer_ack_sent(struct zpeer *p)
{
	p->ack_told = p->taken;
	p->owed_bytes = 0;
}

#endif
