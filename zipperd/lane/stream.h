/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trunks and streams, as workers have them. A trunk is a connection between two zipperds that many channels share.
 * Each channel has a stream of messages there (wire.h, "Streams"). A trunk has two halves as a channel has, and the
 * halves of its channels belong to the same two workers. So the data path has no lock here either. The receiving half
 * hears of room for the sending half, and has room to tell of: both go to the opposite worker as notes.
 *
 * A channel's link is a struct stream: its operations post on the trunk. The source of the trunk gives each message to
 * the source of its stream (zipperd/worker/streams.h). Worker's thread, but for what is said below.
 */
#ifndef ZIPPERD_STREAM_H
#define ZIPPERD_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "common/base/list.h"
#include "common/transport/base/transport.h"
#include "zipperd/lane/half.h"

struct note;

/* Of one trunk: more than the data channels of the ranks of one node. */
#define STREAMS_MAX 16384

/* A message on its way from one thread to another, or that waits for the trunk's link. From malloc; len bytes of
 * payload.
 */
struct parcel {
	struct parcel *next;
	uint32_t len;
	uint8_t env[ZWIRE_ENV_BYTES];
	uint8_t payload[];
};

/* Makes a parcel with this envelope and a copy of the payload. NULL: out of memory. Any thread. */
struct parcel *stream_parcel(const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len);
/* Writes the number of a stream into an envelope; 0: of none. Any thread. */
static inline void stream_put_id(uint8_t raw[ZWIRE_ENV_BYTES], uint32_t id)
{
	for (int i = 0; i < 4; i++)
		raw[ZWIRE_JOB_OFFSET + i] = (uint8_t)(id >> (8 * i));
}

enum stream_state {
	STREAM_TALKS, /* its other end says who it is: all goes to the control thread */
	STREAM_WAITS, /* it has begun here: all waits for its source */
	STREAM_RUNS,  /* it has a source */
	STREAM_ENDED, /* what still comes is dropped */
};

struct stream_in { /* a stream in the receiving half */
	UT_hash_handle hh;
	uint32_t id;
	enum stream_state state;
	struct source *source;
	struct trunk_rx *trunk;
	uint64_t taken;	       /* bytes of it that its lane or the control thread has */
	uint64_t told;	       /* of these, bytes that have gone on, as the other side has heard */
	uint64_t window, most; /* that the other side has heard: last, and at most */
	struct list wide;      /* in worker.streams_wide: it has the large window */
	/* Messages that wait: for the source, or as their lane has no memory. */
	struct parcel *head, **tail;
	uint64_t held;	   /* their bytes */
	struct list waits; /* in worker.streams_held: it has a source, and messages that wait, or its end */
	struct list due;   /* in worker.streams_due: a note that found the ring full */
	bool room_due;	   /* the note is that the sender has room, too */
	uint64_t room;	   /* bytes that have gone on at the other side, as it has told last */
	uint64_t allowed;  /* the window that it has told with them */
	bool spoke;	   /* the control thread has heard of it */
	bool closed;	   /* its other end says nothing more */
};

struct trunk_rx {
	uint32_t number; /* of the trunk here */
	struct channel *channel;
	struct worker *worker;
	struct stream_in *streams; /* hash by id */
	bool accepts;		   /* the other side begins streams */
	uint32_t newest;	   /* the highest id that has been here */
	_Atomic uint32_t begun;	   /* of the side that begins streams: the last id that the control thread has given */
};

struct trunk_tx {
	enum waiter waiter; /* WAITER_TRUNK; in the epoll set */
	uint32_t number;    /* of the trunk here, as in trunk_rx */
	struct channel *channel;
	struct worker *worker;
	struct zlink *carrier;
	struct stream *streams;	  /* hash by id */
	UT_hash_handle of_worker; /* in worker.trunks, by number */
	struct list full;	  /* in worker.trunks_full: something waits for the link */
	struct list waiting;	  /* streams that do */
	struct parcel *head, **tail;
	int error; /* why the link is broken; 0: it is not */
	int fd;
	bool in_epoll;
};

struct stream { /* one end of a stream, as a link */
	struct zlink base;
	uint32_t id;
	struct trunk_rx *rx;
	struct trunk_tx *tx;
	/* the sending half */
	UT_hash_handle hh; /* in trunk_tx.streams */
	struct tx *half;   /* NULL: the worker does not have it */
	struct list waiting;
	uint64_t sent, granted; /* bytes; of these, bytes that have gone on at the other side */
	uint64_t window;	/* that the other side has told */
	bool lent;		/* workers have had it */
	/* The control thread's: neither half has it any more. Frees it. */
	void (*closed)(struct stream *);
};

/* The operations of a stream whose halves workers have. */
extern const struct ztransport ztransport_stream;

static inline struct stream *stream_of(struct zlink *z)
{
	return z && z->ops == &ztransport_stream ? (struct stream *)(void *)z : NULL;
}

/* May so many bytes more go (wire.h)? */
static inline bool stream_fits(uint64_t under_way, uint64_t window, uint64_t bytes)
{
	return under_way <= window / 4 || under_way + bytes <= window;
}

/* --- receiving --- */

/* The stream of that id, or NULL. */
static inline struct stream_in *stream_find(const struct trunk_rx *t, uint32_t id)
{
	struct stream_in *in;
	HASH_FIND(hh, t->streams, &id, sizeof(id), in);
	return in;
}
/* Streams begin, up to that id: those between have said nothing yet. 0, or -ENOMEM: some of them may have begun. */
int stream_begin(struct trunk_rx *, uint32_t id, enum stream_state);
/* Its source comes. 0, or -ESHUTDOWN: the stream has ended. */
int stream_add_source(struct source *);
/* Its source is lost or dropped, or never comes: drops the messages that wait, and those that still arrive. Frees it if
 * its other end has ended, too. */
void stream_end(struct worker *, struct stream_in *);
/* It has ended, and its other end has, too. */
void stream_free(struct stream_in *);
/* Some of its bytes have gone on: tells the other side of it, when it is much. */
void stream_return(struct worker *, struct stream_in *);
/* CREDIT: the other side tells of bytes that have gone on there. */
void stream_granted(struct worker *, struct stream_in *, const struct zwire_env *);
/* Keeps a message that waits. false: out of memory. */
bool stream_hold(struct stream_in *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, uint32_t len);
/* Frees the first message that waits. */
void stream_unhold(struct stream_in *);

/* --- sending --- */

/* The trunk's sending half comes and goes. */
void stream_add_trunk(struct worker *, struct trunk_tx *);
void stream_drop_trunk(struct worker *, struct trunk_tx *);
/* Its sending half comes. Its end is ops->stop_sending. */
void stream_add_tx(struct stream *, struct tx *);
/* Sends a message that the control thread, or a note, has for the trunk. The parcel is the callee's. */
void stream_send(struct trunk_tx *, struct parcel *);
/* A note of the opposite worker: bytes have gone on here, or the other side has told so. */
void stream_take_note(struct worker *, const struct note *);
/* The full stream is left alone until there is room. */
void stream_cool(struct worker *, struct stream *);
/* Once a round, where worker.trunks_full or streams_due is not empty. true: something moved. */
bool stream_turn(struct worker *);
/* Before the worker sleeps: has epoll watch links that are full. true: it must not sleep. */
bool stream_sleep(struct worker *);

#endif
