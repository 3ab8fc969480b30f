/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided transfers to several receivers: what the RDMC paper lets the network adapter do (section 4.4). A rank posts
 * the list of receivers and one RTS with the key to its memory (wire.h), and no rank's processor does anything more:
 * zipperd reads each piece once, by the rank's carrier, and writes it into the memory of every receiver.
 *
 * The worker of the carrier's direction, the reader, has the fan-out. Each receiver has a transfer (transfer.h) in the
 * lane that leads to it, which may be another worker's; the two workers talk by relays: the reader hands over OFFER and
 * PIECE, the receiver's worker answers READY (the receiver has opened its memory) or LEFT (it wants no more, or
 * cannot). A piece is the reader's staging memory, lent to all who write from it, and goes home when the last one is
 * done.
 *
 * The receivers that are READY go together in a round, which begins when all have answered, or when `patience` is over;
 * who answers later takes part in the next round, for which the memory is read again. A round goes as fast as its
 * slowest leg, as it never has more than a share of the staging under way. Where that is all others' for too long, the
 * round is over, and its receivers get fragments (transfer.h).
 */
#ifndef ZIPPERD_FANOUT_H
#define ZIPPERD_FANOUT_H

#include "zipperd/worker/transfer.h"

enum fanout_state {
	FANOUT_LEFT,	/* has nothing to do with it (any more) */
	FANOUT_OFFERED, /* has not answered */
	FANOUT_READY,
	FANOUT_TAKES, /* part of this round */
};

struct fanout_receiver {
	enum fanout_state state;
	uint32_t dst; /* station */
	uint64_t xfer;
};

struct fanout {
	struct list of_worker, of_source;
	struct source *source; /* NULL: lost. Then only its pieces are waited for */
	struct buf *buf;       /* the memory it lies in */
	uint64_t id;
	bool begun;
	uint64_t total, started; /* bytes; started: of this round */
	uint32_t n, offered, ready, taking;
	uint32_t reading, out;	       /* pieces: being read; that are not home */
	struct piece *head, **tail;    /* read, and not handed to all of the round */
	uint32_t next, served;	       /* the first of these: receiver that gets it next, how many have it */
	int64_t patience_ns, since_ns; /* since: the first one was READY; 0: none is */
	struct staging_wait hungry;    /* as a receiver's (lane.h) */
	uint8_t key[ZRMA_KEY_BYTES];
	struct fanout_receiver receiver[];
};

#define FANOUT_PATIENCE_MAX_MS 60000 /* whatever the sender says */

/* --- fanout.c: the reader --- */
/* Of a message with a key that is shown for the first time: its fan-out to n receivers, none of which has it yet. NULL:
 * it cannot be (the link, memory); then it is forwarded as a plain RTS. */
struct fanout *fanout_create(struct source *, const struct zwire_env *, const uint8_t key[ZRMA_KEY_BYTES], uint32_t n);
/* To one more receiver, whom env names: the RTS without the key. 0 or -EAGAIN: later. */
int fanout_offer(struct fanout *, uint32_t receiver, const struct zwire_env *);
/* All have been offered it. */
void fanout_begin(struct fanout *);
/* A receiver is READY, or has LEFT. Nothing happens where the fan-out is over. */
void fanout_hear(struct worker *, const struct fan *, enum relayed_what);
/* A piece has been read, or not. */
void fanout_came_in(struct worker *, struct piece *, int rc);
/* Any worker: done with a piece. */
void fanout_put_piece(struct worker *, struct piece *);
/* true: something moved. */
bool fanout_turn(struct worker *);
/* Is anything under way? */
bool fanout_waits(const struct worker *);
void fanout_source_gone(struct worker *, struct source *);
/* All threads have ended, and all workers have put back what they had. */
void fanout_fini(struct worker *);

/* --- fanned.c: the receivers' workers --- */
/* What the reader has relayed. 0 or -EAGAIN: again later. */
int fanned_take_offer(struct worker *, struct relayed *);
int fanned_take_piece(struct worker *, const struct relayed *);
void fanned_take_decline(struct worker *, const struct relayed *);
/* Tells the reader of a transfer that is fanned. 0 or -EAGAIN. */
int fanned_say(struct worker *, const struct transfer *, enum relayed_what);
/* Makes the reader's pieces known to the link of the transfer's receiver: t->region. 0, or a negative errno, with text
 * the first time. Any transfer: fanned_leave gives it back, if it was. */
int fanned_admit(struct worker *, struct transfer *, struct zerr *);
void fanned_leave(struct worker *, struct transfer *);
/* The sending half of this link leaves. */
void fanned_forget(struct worker *, const struct zlink *);
/* All threads have ended: other workers' memory is not registered any more. */
void fanned_fini(struct worker *);

#endif
