/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fan-outs: one-sided transfers to several receivers, which the RDMC paper leaves to the network adapter (section 4.4).
 * A rank posts the list of receivers and one RTS with the key to its memory (wire.h), and no rank's processor does
 * anything more. zipperd reads each piece once and writes it into the memory of every receiver.
 *
 * The reader is the worker that the RTS came to; it has the fan-out. Each receiver has a transfer (transfer.h) in the
 * lane that leads to it, which may belong to another worker. The workers talk by relays. The reader hands over OFFER
 * and PIECE. The receiver's worker answers READY (the receiver has opened its memory) or LEFT (it wants no more, or
 * cannot). A piece is the reader's staging memory, lent to all workers that write from it (loan.h).
 *
 * The READY receivers go together in a round. A round begins when all have answered, or when the patience is over; a
 * receiver that answers later takes part in the next round, for which the memory is read again. A round goes as fast as
 * its slowest leg, and never has more than a share of the staging memory under way. Where other transfers have all the
 * staging memory for too long, the round is over, and its receivers get fragments.
 *
 * This module has the record; reader.c moves the pieces, fanned.c is the receivers' side. The reader's thread.
 */
#ifndef ZIPPERD_FANOUT_H
#define ZIPPERD_FANOUT_H

#include "zipperd/lane/half.h"
#include "zipperd/lane/relay.h"
#include "zipperd/memory/staging.h"

struct transfer;

enum fanout_state {
	FANOUT_LEFT,	/* has nothing to do with the fan-out (any more) */
	FANOUT_OFFERED, /* has not answered */
	FANOUT_READY,
	FANOUT_TAKES, /* takes part in this round */
};

struct fanout_receiver {
	enum fanout_state state;
	uint32_t dst; /* station */
	uint64_t xfer;
};

struct fanout {
	struct list of_worker, of_source;
	struct source *source; /* NULL: lost; the fan-out only waits for its pieces */
	struct buf *buf;       /* the memory of this struct */
	uint64_t id;
	bool begun;			 /* all receivers have been offered it */
	uint64_t total, started;	 /* bytes; started: of this round */
	uint32_t n;			 /* receivers */
	uint32_t offered, ready, taking; /* receivers in these states */
	uint32_t reading, out;		 /* pieces being read; pieces that are not back */
	struct piece *head, **tail;	 /* pieces that are read, and not handed to the whole round */
	uint32_t next, served;		 /* of the first such piece: the receiver that is next, and the number served */
	int64_t patience_ns, since_ns;	 /* since: the first receiver was READY; 0: none is */
	struct staging_wait hungry;	 /* other transfers have all pieces */
	uint8_t key[ZRMA_KEY_BYTES];
	struct fanout_receiver receiver[];
};

#define FANOUT_PATIENCE_MAX_MS 60000 /* whatever the sender says */

/* The fan-out to n receivers of a message with a key that is shown for the first time. None of them is offered it yet.
 * NULL: it cannot be (the link, memory), and the message is forwarded as a plain RTS. */
struct fanout *fanout_create(struct source *, const struct zwire_env *, const uint8_t key[ZRMA_KEY_BYTES], uint32_t n);
/* Frees a fan-out without pieces. */
void fanout_destroy(struct worker *, struct fanout *);
/* A receiver is READY, or has LEFT. No effect where the fan-out is over. */
void fanout_hear(struct worker *, const struct fan *, enum relayed_what);
/* The receiver's worker tells the reader of a fanned transfer. 0 or -EAGAIN. */
int fanout_say(struct worker *, const struct transfer *, enum relayed_what);
/* Is a fan-out of this reader under way? */
bool fanout_waits(const struct worker *);
void fanout_source_gone(struct source *);

#endif
