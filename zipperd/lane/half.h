/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two halves of a channel as workers have them: the receiving half (source) and the sending half (tx), from the
 * control thread's command to EVENT_HALF_GONE. The control thread owns both structs and lends each to one worker.
 * Worker's thread.
 */
#ifndef ZIPPERD_HALF_H
#define ZIPPERD_HALF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/list.h"
#include "common/transport/base/transport.h"

struct buf;
struct carry;
struct channel;
struct dest;
struct fanout;
struct lane;
struct stream_in;
struct trunk_rx;
struct trunk_tx;
struct worker;

/* The owner of a descriptor in a worker's epoll set: the first member of each. */
enum waiter { WAITER_WAKE, WAITER_SOURCE, WAITER_TX, WAITER_SECOND, WAITER_TRUNK };

enum source_state {
	SOURCE_GONE,   /* in no list: broken, or not added yet */
	SOURCE_HOT,    /* polled in every round */
	SOURCE_COLD,   /* armed; epoll tells */
	SOURCE_STALLED /* its last message found no memory: not polled until some comes free */
};

enum one_sided { ONE_SIDED_UNKNOWN, ONE_SIDED_YES, ONE_SIDED_NO }; /* of a link, found out at first use */

/* The receiving half: belongs to the worker of (the rank's fabric, the other fabric). */
struct source {
	enum waiter waiter;
	enum source_state state;
	struct list link; /* in the worker's hot, cold or stalled list */
	struct zlink *zlink;
	struct lane *lane;
	struct channel *channel;
	uint32_t station;
	uint32_t idle; /* polls in a row without a message */
	int fd;
	bool no_room;	       /* forward_take refused a message for lack of memory */
	bool dropping;	       /* given back when reads is 0 */
	const char *breach;    /* forward_take found something that no rank sends */
	struct list transfers; /* transfers that it is the sender of */
	struct list fanouts;   /* fan-outs that it is the sender of */
	uint32_t ntransfers;   /* of both kinds */
	enum one_sided one_sided;
	struct zregion *region;	  /* staging memory, for this link */
	uint32_t reads;		  /* under way */
	struct list reading;	  /* in worker.reading while there are any */
	struct buf *receivers;	  /* the list for messages to several ranks (receivers.h); NULL: none */
	struct buf *body;	  /* of the message that is shown, once a receiver has to keep it */
	uint32_t next_receiver;	  /* of that message: the receivers before it are served */
	struct fanout *fanout;	  /* of that message, if it has a key; NULL: none is being offered */
	struct trunk_rx *trunk;	  /* a trunk's (stream.h); NULL: a channel's */
	struct stream_in *stream; /* of a stream, which the trunk's source polls; NULL: it has a link of its own */
};

/* The sending half: belongs to the worker of (the other fabric, the rank's fabric). */
struct tx {
	enum waiter waiter;
	struct zlink *zlink;
	struct lane *lane; /* as in source: the control thread sets it before it lends the half, and reads it later */
	struct dest *dest; /* NULL: not added, or gone */
	struct channel *channel;
	int fd;
	bool in_epoll;
	bool dropping;	       /* given back when writes is 0 */
	struct list finishing; /* in worker.finishing: goes when its queue has been sent */
	int64_t finish_ms;     /* or at this time */
	enum one_sided one_sided;
	struct zregion *region;		       /* staging memory, for this link */
	uint32_t writes;		       /* under way */
	struct carry *waiting, **waiting_tail; /* pieces to be written, oldest first; the link had no room */
	struct list writing;		       /* in worker.writing while there are writes or waiting pieces */
	struct trunk_tx *trunk;		       /* a trunk's (stream.h); NULL: a channel's */
};

/* Moves the source to a list of its worker's; to NULL: to none. */
void half_move_source(struct source *, struct list *to, enum source_state state);
void half_add_source(struct worker *, struct source *);
/* Has epoll watch the source, or not. */
void half_watch_source(struct worker *, struct source *, bool watch);
/* Arms the source and leaves it to epoll. true: it has something to read after all. */
bool half_cool_source(struct worker *, struct source *);
/* The link broke with rc. The control thread hears of it once. */
void half_lose_source(struct worker *, struct source *, int rc);
/* The control thread wants it back: it goes as soon as no read is under way. */
void half_drop_source(struct worker *, struct source *);
/* Gives the half back if it is dropping and nothing is under way on it any more. */
void half_settle_source(struct worker *, struct source *);

void half_add_tx(struct worker *, uint32_t dest, struct tx *);
void half_drop_tx(struct worker *, struct tx *);
void half_settle_tx(struct worker *, struct tx *);
/* Drops the tx when its queue has been sent, or after some seconds. */
void half_finish_tx(struct worker *, struct tx *);
/* Once a round, where worker.finishing is not empty. */
void half_finish_turn(struct worker *);

/* The lane goes with the last of its halves. */
void half_drop_lane(struct worker *, struct lane *);
/* Frees all that a lane without halves holds. */
void half_clear_lane(struct worker *, struct lane *);

#endif
