/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: one per direction (ordered pair of fabrics), which moves its messages. It owns the receiving halves of the
 * channels of ranks on its first fabric, the sending halves of those on its second, and the lanes of this direction.
 * Each has a thread of its own; where there are few cores the two workers of a pair of fabrics may share one, taking
 * turns (worker_params.shared). They do not know the difference.
 *
 * Threads meet in rings only. The control thread sends commands and gets events; the two workers of a pair of fabrics
 * exchange notes (a refusal is noticed where the message arrives, and told where the sender's own sending half is).
 * Workers with the same first fabric relay messages for several ranks to each other (multicast.c).
 */
#ifndef ZIPPERD_WORKER_H
#define ZIPPERD_WORKER_H

#include <pthread.h>

#include "zipperd/worker/lane.h"
#include "zipperd/worker/ring.h"
#include "zipperd/worker/staging.h"
#include "common/base/wait.h"

enum command_kind {
	CMD_ADD_LANE,	 /* lane */
	CMD_ADD_SOURCE,	 /* source; its lane was added before */
	CMD_ADD_TX,	 /* tx, lane, dest */
	CMD_DROP_SOURCE, /* source; answered by EVENT_HALF_GONE */
	CMD_DROP_TX,	 /* tx; answered by EVENT_HALF_GONE */
	CMD_FINISH_TX,	 /* the same, when all that waits for it has been sent, or cannot be */
	CMD_DEST_BYE,	 /* lane, dest: takes nothing any more */
	CMD_ADD_INBOUND, /* relay: messages come in by it */
	CMD_ADD_RELAY,	 /* lane, part, relay: leads there; the other end has it */
	CMD_DROP_LANE,	 /* lane; its halves are dropped, too; answered by EVENT_LANE_GONE, after theirs */
	CMD_STOP,
};

struct command {
	enum command_kind kind;
	uint32_t dest, part; /* dest: index in lane.dest */
	struct lane *lane;
	struct source *source;
	struct tx *tx;
	struct relay *relay;
};

enum event_kind {
	EVENT_OPEN,	 /* lane, dest: a message waits and there is no channel */
	EVENT_BYE,	 /* channel: its rank said BYE on it */
	EVENT_HALF_LOST, /* channel, half, rc, breach: broken or closed; the half is at rest, to be dropped */
	EVENT_HALF_GONE, /* channel: the half was dropped */
	EVENT_LANE_GONE, /* lane */
	EVENT_RELAY,	 /* lane, part: something is for that one, and there is no relay to its worker */
	EVENT_BREACH,	 /* lane, station, breach: its rank broke the protocol, its half is another worker's */
};

struct event {
	enum event_kind kind;
	int rc;
	uint32_t dest, station, part; /* dest: as in a command */
	struct lane *lane;
	struct channel *channel;
	enum zlink_half half;
	const char *breach; /* constant text, or NULL */
};

enum note_what {
	NOTE_SEND,     /* send this to dst */
	NOTE_GO,       /* src has said where dst's transfer shall go: CTS with a key */
	NOTE_WITHDRAW, /* src does not want it that way */
};

struct note { /* to the worker of the opposite direction */
	enum note_what what;
	uint32_t job, src, dst;	     /* src, dst: of the envelope */
	uint8_t kind;		     /* SEND: NAK, RESUME, BYE or DONE */
	uint8_t key[ZRMA_KEY_BYTES]; /* GO */
	uint64_t seq, ack, xfer;     /* of the envelope */
	uint64_t peer_xfer, total;   /* GO: comm and offset of the CTS */
};

/* To which fan-out (fanout.h) a receiver belongs, as its own worker knows it. */
struct fan {
	uint64_t id;		 /* of the fan-out, among the reader's */
	struct worker *reader;	 /* whose staging its pieces are from */
	uint32_t receiver, part; /* the how manieth; where the reader's lane leads to */
};

enum relayed_what {
	RELAYED_MESSAGE, /* for one rank: env, body, len, shared */
	RELAYED_OFFER,	 /* reader to receiver's worker: env, fan */
	RELAYED_PIECE,	 /* the same: piece, src, dst, xfer (of the transfer), shared */
	RELAYED_DECLINE, /* the same: src, dst, xfer. No (more) piece comes, none is under way */
	RELAYED_READY,	 /* receiver's worker to reader: fan. The memory is open */
	RELAYED_LEFT,	 /* the same: there is nothing to be written (any more) */
};

struct relayed {
	enum relayed_what what;
	uint32_t job, len, src, dst;
	bool shared;	  /* another receiver's came in with it */
	bool refused;	  /* OFFER: that is to be told */
	struct buf *body; /* NULL: no payload */
	struct piece *piece;
	struct fan fan;
	uint64_t xfer;
	uint8_t env[ZWIRE_ENV_BYTES];
};

RING(command_ring, struct command, 1024);
RING(event_ring, struct event, 1024);
RING(note_ring, struct note, 1024);
RING(relay_ring, struct relayed, 64); /* holds that many bodies and pieces back at most */

struct relay { /* from one worker to another; made by the control thread, and kept as long as from */
	struct relay_ring ring;
	struct worker *from, *to;
	_Atomic bool full;	    /* from waits for room */
	struct relay *full_next;    /* from's */
	bool waits;		    /* from's: in its list of full ones */
	struct relay *inbound_next; /* to's */
	struct relay *told_next;    /* from's */
	bool told;		    /* from's: to is to be woken in this round */
	struct relay *next;	    /* the control thread's: in from's outbound */
};

/* For other threads, each touching its own cache line. */
struct worker_ports {
	struct command_ring commands;			    /* control thread -> worker */
	struct event_ring events;			    /* worker -> control thread */
	struct note_ring notes;				    /* opposite worker -> worker */
	alignas(CACHE_LINE) _Atomic(struct buf *) returned; /* bodies that another worker let go last */
	_Atomic(struct piece *) pieces;			    /* pieces of fan-outs, likewise */
};

struct worker {
	struct worker_ports *ports;
	struct worker *opposite;
	struct lane *lanes;		/* but those of circuits */
	struct list hot, cold, stalled; /* sources */
	struct list touched, blocked;	/* destinations */
	struct list due;		/* refusals with something to tell */
	struct list carrying;		/* destinations with transfers to go on with, in turns */
	struct list reading, writing;	/* sources and txs with one-sided operations under way */
	struct list telling;		/* transfers that are done, and somebody does not know */
	struct list finishing;		/* txs that go when their queue is empty */
	struct list fanouts;		/* of which it is the reader */
	uint64_t fanout_serial;
	uint32_t lent;		   /* pieces of its staging that they have */
	struct borrowed *borrowed; /* other readers' staging, as its links know it (fanned.c) */
	uint32_t cold_txs;	   /* full links that are left to epoll */
	struct pool pool;
	struct staging staging;
	int epoll;
	/* Where its sources are, and full links: that one. Of two in one thread the first one's, and the second one's:
	 * so that a message is found at once, and as a tcp link has one descriptor, and its halves are in different
	 * workers. */
	int rx_epoll, tx_epoll;
	uint32_t turns;
	bool stop;
	bool freed;			  /* a buffer came free since the stalled sources were looked at */
	bool told_opposite, told_control; /* their descriptors are to be written in this round */
	struct relay *inbound, *told;	  /* relays to this worker; those from it whose readers are to be woken */
	struct relay *full;		  /* those from it that were full when a source had something for them */
	struct buf *kept, **kept_tail;	  /* answers for full relays, oldest first (relay.c) */

	struct relay *outbound; /* from this worker; the control thread's alone */

	/* set by the control thread, the thread only reads its own */
	const struct ztransport *settles; /* whose endpoint this is, or NULL */
	struct zendpoint *endpoint;
	enum waiter waiter; /* WAITER_WAKE */
	enum waiter second; /* WAITER_SECOND: where this one's epoll set is in that of whom it shares its thread with */
	int wake_fd;	    /* eventfd: anybody -> worker */
	int control_fd;	    /* eventfd: worker -> control thread */
};

struct worker_thread {
	struct worker *worker[2];
	int count;
	struct zwait wait;
	int64_t poll_ns;  /* for so long after it had something to do it looks without sleeping; 0: as wait says */
	int64_t quiet_ns; /* since then it has had nothing; 0: not known yet */
	pthread_t thread;
	bool started;
	char name[16]; /* "lgm>das4", or "lgm<>das4" for both; cut */
};

struct worker_pair {
	struct worker *worker[2];	/* from -> to, to -> from */
	struct worker_thread thread[2]; /* the second is not used where they share one */
};

struct worker_params {
	const char *from, *to; /* fabrics */
	uint32_t eager_bytes, frag_bytes;
	uint32_t piece_bytes; /* of one-sided transfers; 0: the transport's fragment_bytes */
	uint64_t staging_bytes;
	struct budget *budget;
	int control_fd;
	int64_t spin;	 /* WORKER_SPIN_AUTO, or idle polls before yielding */
	int64_t poll_ns; /* see struct worker_thread */
	bool shared;	 /* one thread for both directions */
};
#define WORKER_SPIN_AUTO (-1)

/* Fewer cores than two ranks and two workers can use at a time. Measured on two cores with bench/forward, 8 bytes one
 * way over shm: 5.3 us with a thread for each direction, 4.1 us with one for both; a bare relay 3.9 us. */
#define WORKER_FEW_CORES 4

/* Control thread: makes both workers of a pair of fabrics and starts their threads; ends the threads again, all lanes
 * being back; then, when those of all pairs have ended, gives up what the workers hold of each other, and at last frees
 * them. The pair must stay where it is in between. */
int worker_pair_start(struct worker_pair *, const struct worker_params *, struct zerr *);
void worker_pair_stop(struct worker_pair *);
void worker_pair_drain(struct worker_pair *);
void worker_pair_free(struct worker_pair *);
/* The endpoint for links of this transport, made with the first of them. NULL with text. */
struct zendpoint *worker_endpoint(struct worker *, const struct ztransport *, struct zerr *);

/* The worker's lane of that job for what goes from the one station to the other; NULL: it is over. A job has several
 * where several of its parts come by the same fabric. */
static inline struct lane *worker_lane(const struct worker *w, uint32_t job, uint32_t from, uint32_t to)
{
	struct lane *l = w->lanes;
	while (l && (l->job != job || l->place[from].part != l->from || l->place[to].part != l->to))
		l = l->next;
	return l;
}

/* The worker's own. admit.c: what may pass. */
static inline bool admit_sequenced(uint8_t kind) /* a message that its sender keeps until it is acknowledged */
{
	return kind == ZWIRE_EAGER || kind == ZWIRE_RTS;
}
/* Is there room for it? ADMITTED; DROPPED: its source is told, or it is for nobody any more; -EAGAIN: no memory;
 * -ENOBUFS: more than was granted. */
enum { ADMITTED, DROPPED };
int admit_message(struct worker *, struct dest *, const struct zwire_env *);
/* The source of a message that waited for dest, which has left, is told so. *b, where the message is, may be kept for
 * that, if there is no other memory: then NULL. */
void admit_refuse_waiting(struct worker *, struct dest *, struct buf **b);
void admit_tell(struct worker *, struct refusal *, enum refusal_state due);
void admit_resume(struct worker *, struct dest *); /* lets refused sources go on, if there is room */
void admit_due(struct worker *);		   /* tells the opposite worker what is to be told */
/* What no rank sends: at all (whoever the receiver is), or by this source. Constant text, or NULL. */
const char *admit_kind(const struct lane *, const struct zwire_env *);
const char *admit_check(const struct source *, const struct zwire_env *);
int admit_breach(struct source *, const char *what); /* -EPROTO */
/* forward.c: moving messages. */
int forward_take(void *source, const struct zwire_env *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);
/* -EAGAIN: no memory. */
int forward_note(struct worker *, const struct note *);
bool forward_blocked(struct worker *); /* tries all of worker.blocked; true: something moved */
void forward_flush(struct worker *);
void forward_add_tx(struct worker *, struct lane *, uint32_t dest, struct tx *);
void forward_drop_tx(struct worker *, struct tx *);
void forward_dest_bye(struct worker *, struct lane *, uint32_t dest);
void forward_drop_lane(struct worker *, struct lane *);
/* One message of a multicast to a destination of the lane. *body: where its payload lies if it is not the transport's
 * (NULL: not yet; made where it must wait, and held by the caller). shared: not the first receiver. 0; -EAGAIN: no
 * memory; -ENOBUFS: it has more than it granted. */
int forward_one(struct lane *, const struct zwire_env *, const void *payload, struct buf **body, bool shared);
/* A message has been passed on, or its RTS. */
void forward_count(struct lane *, const struct zwire_env *);
/* Sends an envelope without payload. -EAGAIN: no memory. */
int forward_envelope(struct worker *, struct dest *, const struct zwire_env *);
/* Its link is broken with rc. */
void forward_lose_tx(struct worker *, struct dest *, int rc);
/* multicast.c: messages to several ranks. */
int multicast_take(struct source *, const struct zwire_env *, const void *payload);
void multicast_source_gone(struct worker *, struct source *);
/* What another worker has relayed. 0 or -EAGAIN. */
int multicast_take_relayed(struct worker *, struct relayed *);
struct buf *body_create(struct worker *, const void *payload, uint32_t len); /* held once; NULL: no memory */
void body_hold(struct buf *);
void body_put(struct worker *, struct buf *); /* NULL: no effect */
void body_collect(struct worker *);
/* relay.c: what workers with the same first fabric hand to each other. */
/* The way to that part's worker. NULL: not yet; the control thread has been asked for it, and the stalled sources are
 * looked at again when it is there. */
struct relay *relay_to(struct lane *, uint32_t part);
/* false: it is full; the worker looks again when there is room. */
bool relay_push(struct worker *, struct relay *, const struct relayed *);
/* To the other worker, of what it has handed over. Kept where there is no room: it may be in just the same place, and
 * take what makes room only when it has got rid of its own answer. 0 or -EAGAIN: no memory. */
int relay_answer(struct worker *, struct relay *, const struct relayed *);
bool relay_turn(struct worker *);  /* takes what others have pushed; true: something moved */
bool relay_waits(struct worker *); /* something is left of that, or of answers */
void relay_tell(struct worker *);  /* wakes those that were pushed to */
void relay_drain(struct worker *); /* all threads have ended */
/* worker.c */
void *worker_run(void *thread); /* a thread's whole life: pthread_create(3) */
void worker_run_commands(struct worker *);
void worker_cool_tx(struct worker *, struct dest *); /* leaves a full link to epoll */
void worker_warm_tx(struct worker *, struct dest *); /* takes it back */
void worker_emit(struct worker *, const struct event *);
void worker_lose_source(struct worker *, struct source *, int rc); /* no effect on one that is lost */
/* Gives a half back that was to be dropped, if nothing is under way on it any more. */
void worker_settle_source(struct worker *, struct source *);
void worker_settle_tx(struct worker *, struct tx *);

#endif
