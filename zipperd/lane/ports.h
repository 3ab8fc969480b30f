/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings by which a worker talks with the control thread (commands, events) and with the worker of the opposite
 * direction (notes). A note is needed where a message's arrival has to be answered: the answer leaves by the sending
 * half of the sender's own channel, which the opposite worker has.
 */
#ifndef ZIPPERD_PORTS_H
#define ZIPPERD_PORTS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "common/transport/base/transport.h"
#include "zipperd/memory/ring.h"

struct buf;
struct channel;
struct lane;
struct parcel;
struct piece;
struct relay;
struct source;
struct tx;
struct worker;

enum command_kind {
	CMD_ADD_LANE,	 /* lane */
	CMD_ADD_SOURCE,	 /* source; its lane was added before */
	CMD_ADD_TX,	 /* tx, dest; its lane was added before */
	CMD_DROP_SOURCE, /* source; answered by EVENT_HALF_GONE */
	CMD_DROP_TX,	 /* tx; answered by EVENT_HALF_GONE */
	CMD_FINISH_TX,	 /* tx: the same, once its queue has been sent or cannot be */
	CMD_DEST_BYE,	 /* lane, dest: takes nothing any more */
	CMD_ADD_INBOUND, /* relay: messages come in by it */
	CMD_ADD_RELAY,	 /* lane, part, relay: leads there; the other end has it */
	CMD_TRUNK_SEND,	 /* tx of a trunk, parcel: goes out by it */
	CMD_TRUNK_LOST,	 /* source of a trunk whose sending half is lost */
	CMD_STREAM_NEW,	 /* source of a trunk, dest: that stream begins here */
	CMD_STREAM_SAY,	 /* source of a trunk, dest, parcel: a message of that stream, which has a source now */
	CMD_STREAM_END,	 /* source of a trunk, dest: that stream never gets a source */
	CMD_DROP_LANE,	 /* lane; its halves are dropped, too; answered by EVENT_LANE_GONE, after theirs */
	CMD_PING,	 /* answered by EVENT_PONG */
	CMD_STOP,
};

struct command {
	enum command_kind kind;
	uint32_t dest, part; /* dest: index in lane.dest */
	struct lane *lane;
	struct source *source;
	struct tx *tx;
	struct relay *relay;
	struct parcel *parcel;
};

enum event_kind {
	EVENT_OPEN,	 /* lane, dest: a message waits and there is no channel */
	EVENT_BYE,	 /* channel: its rank said BYE on it */
	EVENT_HALF_LOST, /* channel, half, rc, breach: broken or closed; the half is at rest, to be dropped */
	EVENT_HALF_GONE, /* channel: the half was dropped */
	EVENT_LANE_GONE, /* lane */
	EVENT_RELAY,	 /* lane, part: a message is for that part, and there is no relay to its worker */
	EVENT_PONG,	 /* the worker lives */
	EVENT_STREAM,	 /* channel of a trunk, dest, first, parcel: a message of that stream, which has no source;
			    NULL: it is closed. dest 0: the other side wants no more streams */
	EVENT_BREACH,	 /* lane, station, breach: its rank broke the protocol; another worker has its half */
};

struct event {
	enum event_kind kind;
	int rc;
	uint32_t dest, station, part; /* dest: index in lane.dest */
	struct lane *lane;
	struct channel *channel;
	enum zlink_half half;
	const char *breach; /* constant text, or NULL */
	struct parcel *parcel;
	bool first; /* nothing of the stream has come before */
};

enum note_what {
	NOTE_SEND,     /* send this envelope to dst */
	NOTE_ACCEPT,   /* src has said where dst's transfer shall go: CTS with a key */
	NOTE_WITHDRAW, /* src does not want a one-sided transfer */
	NOTE_GONE_ON,  /* job: a trunk, src: a stream, total: bytes of it that have gone on here: tell the other side */
	NOTE_ROOM,     /* job: a trunk, src: a stream: the other side has told that bytes have gone on */
};

struct note {
	enum note_what what;
	uint32_t job, src, dst;	       /* src, dst: of the envelope */
	uint8_t kind;		       /* SEND: NAK, RESUME, BYE or DONE */
	uint8_t key[ZRMA_KEY_BYTES];   /* ACCEPT */
	uint64_t seq, ack, xfer;       /* of the envelope */
	uint64_t receiver_xfer, total; /* ACCEPT: comm and offset of the CTS */
};

RING(command_ring, struct command, 1024);
RING(event_ring, struct event, 1024);
RING(note_ring, struct note, 1024);

/* Of one worker, for other threads. Each thread touches a cache line of its own. */
struct worker_ports {
	struct command_ring commands;			    /* control thread -> worker */
	struct event_ring events;			    /* worker -> control thread */
	struct note_ring notes;				    /* opposite worker -> worker */
	alignas(CACHE_LINE) _Atomic(struct buf *) returned; /* bodies that another worker let go last (body.h) */
	_Atomic(struct piece *) pieces;			    /* pieces that another worker was done with last (loan.h) */
};

/* Sends the event to the control thread. Waits while the ring is full: the control thread never waits for a worker. */
void ports_emit(struct worker *, const struct event *);
/* Sends the note to the opposite worker. false: the ring is full. */
bool ports_note(struct worker *, const struct note *);

#endif
