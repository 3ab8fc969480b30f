/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of sequenced messages (EAGER, RTS) to and from one remote rank: numbering, retention until acknowledged,
 * window, refusal by zipperd (NAK, RESUME), and on the other side order and acknowledgements. Messages of one stream
 * may go different ways (rails): then they may come out of order, and those that come early are held. Only bookkeeping:
 * what is to be posted is asked for, nothing is posted here. Under the shim's lock. No MPI in here.
 */
#ifndef ZIP_LIBZIP_PEER_H
#define ZIP_LIBZIP_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

/* Sender's window: what may be unacknowledged. 256 messages of 1 KiB fill 256 KiB; that is several round trips of
 * small messages through zipperd, and bounds what zipperd may have to refuse. */
#define ZPEER_WINDOW_MSGS 256u
#define ZPEER_WINDOW_BYTES (256u << 10)
/* A pure ACK is sent when so much was taken without anything to piggyback on: an eighth and a quarter of the window,
 * so that a steady stream never stops. */
#define ZPEER_ACK_MSGS 32u
#define ZPEER_ACK_BYTES (64u << 10)

struct zpeer_msg { /* one retained message, or one that has come early; from the pool */
	struct zpeer_msg *next;
	void *way;	      /* that it goes or has come, the caller's; NULL: the usual one. Each keeps its order */
	uint64_t posted;      /* which of the postings of this stream; 0: it is not */
	struct zwire_env env; /* seq is set by zpeer_push */
	uint8_t payload[];    /* env.len bytes */
};

struct zpeer {
	/* sending */
	uint64_t last;		       /* seq of the newest message */
	uint64_t acked;		       /* highest one that the peer has taken */
	struct zpeer_msg *head, *tail; /* acked + 1 .. last */
	struct zpeer_msg *unsent;      /* first one that is not (or must again be) posted; NULL: none. Behind it others
					* may have been */
	uint64_t bytes;		       /* payload of all of them */
	uint64_t postings;
	uint64_t refused; /* NAKed seq; 0: none. Nothing is posted until RESUME */
	bool halted;	  /* nothing is posted: a way was lost, and the peer has not said yet what it has */
	bool gone;	  /* the peer has left (BYE): what is sent to it is dropped */
	/* receiving */
	uint64_t taken;		 /* highest seq taken in order */
	uint64_t ack_told;	 /* what the peer knows of it */
	uint32_t owed_bytes;	 /* payload taken since */
	struct zpeer_msg *early; /* by seq: those that have come before one in front of them */
};

/* May one more message of len payload bytes go into the window? An empty window takes any. */
static inline bool zpeer_has_room(const struct zpeer *p, uint32_t len)
{
	uint64_t msgs = p->last - p->acked;

	return msgs == 0 || (msgs < ZPEER_WINDOW_MSGS && p->bytes + len <= ZPEER_WINDOW_BYTES);
}

/* A message with a copy of its payload (env.len bytes), that goes the usual way and has not been posted. NULL: no
 * memory. */
struct zpeer_msg *zpeer_msg_create(const struct zwire_env *, const void *payload);
/* Appends a message that the peer now owns and numbers it. */
void zpeer_push(struct zpeer *, struct zpeer_msg *);
/* The next message to post, or NULL. */
static inline struct zpeer_msg *zpeer_unsent(const struct zpeer *p)
{
	return p->refused || p->halted ? NULL : p->unsent;
}
/* It has been posted (m is what zpeer_unsent gave). */
void zpeer_sent(struct zpeer *, struct zpeer_msg *);
/* The peer has taken everything up to seq. Frees it. Returns the number of messages freed; nonsense is ignored. */
uint32_t zpeer_acked(struct zpeer *, uint64_t seq);
/* The zipperd on that way refused seq and dropped the ones behind it. Ignored if that one is not on that way. */
void zpeer_nak(struct zpeer *, uint64_t seq, const void *way);
/* zipperd has room again: posts from the refused one on. False if nothing was refused. */
bool zpeer_resume(struct zpeer *);
/* Ways are lost: what was posted by them is to be posted again, the usual way and without a key. usual: that is the
 * usual way from now on, if the way that it was is lost; else NULL. Refusals are forgotten: who still refuses says so
 * again. */
void zpeer_reroute(struct zpeer *, bool (*is_lost)(const void *way, const void *ctx), const void *ctx,
	const void *usual);
/* The same of what has come early: that by the lost ways is dropped, as it comes again. Another usual way may be lost
 * than where we send. */
void zpeer_drop_early(struct zpeer *, bool (*is_lost)(const void *way, const void *ctx), const void *ctx,
	const void *usual);
/* The peer has left. Returns the number of messages freed. */
uint32_t zpeer_leave(struct zpeer *);

enum zpeer_verdict {
	ZPEER_TAKE, /* next in order; zpeer_take when it has been taken */
	ZPEER_DUP,  /* had it already: drop it, and acknowledge again */
	ZPEER_GAP,  /* one before it is missing */
};
enum zpeer_verdict zpeer_check(const struct zpeer *, uint64_t seq);
void zpeer_take(struct zpeer *, uint32_t len);
/* A message with a gap before it, the peer's from now on. False: it is there already. */
bool zpeer_hold(struct zpeer *, struct zpeer_msg *);
/* The held message that is next in order, the caller's; NULL: there is none. */
struct zpeer_msg *zpeer_next_held(struct zpeer *);
/* Frees everything of a peer that will not be used any more. */
void zpeer_clear(struct zpeer *);
/* A duplicate came: the peer has not heard our acknowledgement, say it again at once. */
static inline void zpeer_repeat_ack(struct zpeer *p)
{
	p->ack_told = p->taken - ZPEER_ACK_MSGS;
}
/* Is anything taken that the peer does not know? */
static inline bool zpeer_owes_ack(const struct zpeer *p)
{
	return p->ack_told != p->taken;
}
/* So much that it should not wait for something to ride on? */
static inline bool zpeer_ack_is_due(const struct zpeer *p)
{
	return p->taken - p->ack_told >= ZPEER_ACK_MSGS || p->owed_bytes >= ZPEER_ACK_BYTES;
}
/* The value for the ack field of a message that is about to be posted. */
static inline uint64_t zpeer_ack_value(const struct zpeer *p)
{
	return p->taken;
}
/* That message has been posted. */
static inline void zpeer_ack_sent(struct zpeer *p)
{
	p->ack_told = p->taken;
	p->owed_bytes = 0;
}

#endif
