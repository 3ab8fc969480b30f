/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link of the verbs transport: two queue pairs, one for each direction, beside a TCP connection.
 *
 * The TCP connection comes first, and messages travel over it (by the tcp transport) until the accepting end settles
 * the link and both ends have told each other their queue pairs (frame.h); connections that never get that far, as
 * those for control, cost no queue pair. Then each direction changes over to its queue pair by itself. The TCP
 * connection stays open: its end tells of a peer that died.
 *
 * A direction: the send half of one end has a queue pair that is connected to the one of the receive half of the other
 * end. Messages are sends into the receiving thread's shared receive queue, cut where they are longer than a buffer.
 * Each send needs a credit. The receive half tells the sender by the same pair of queue pairs, in the immediate data of
 * an empty send, how many sends it may have made in all; so receiver-not-ready does not happen. The receiving end
 * reads, and the sending end writes, the peer's memory by the same queue pair (rma.c).
 *
 * Completions are polled; each half has a completion queue and channel of its own, used by its thread alone.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/transport/base/transport.h"
#include "common/transport/verbs/address.h"
#include "common/transport/verbs/device.h"
#include "common/transport/verbs/device/verbs_options.h"
#include "common/transport/verbs/frame.h"
#include "common/transport/verbs/lookout.h"
#include "common/transport/verbs/objects.h"
#include "common/transport/verbs/pass.h"
#include "common/transport/verbs/pool.h"

extern const struct zverbs_options *voptions;

#define VLINE 128	/* pairs of cache lines are fetched together */
#define VCREDIT_RUN 4	/* messages of credit of which one reports its completion */
#define VCREDITS_MAX 64 /* messages of credit that a sender has not looked at: at most 24 with any window */
#define VLIST_MAX 32	/* sends in a list */
#define VINLINE_MAX 512
#define VPOLL 16		 /* completions taken at a time */
#define VARRIVALS 512		 /* a power of two, more than the largest window and VPOLL */
#define VRMA_MAX 16		 /* one-sided operations under way on a half */
#define VCONTEXTS 3		 /* of a link, at most: the device's, and of each half's endpoint one of its own */
#define VWATCHED (VCONTEXTS + 4) /* descriptors of a half */
#define VLOOK_EVERY 64		 /* vain tries until a look at what else may have happened, which costs a system call */

/* What a completion queue is to raise an event of (notice.c). That stands until the event has been taken: asking again
 * while it has been raised has no effect (of mlx5's arm_sn). */
enum vnotice { VNOTICE_NONE, VNOTICE_ERRORS, VNOTICE_ALL };

/* How the receive half's thread watches the send half's completion channel (epoll), while that is quiet. */
#define VWATCH_SENDER (EPOLLIN | EPOLLET)

/* What a completion is of, the low bits of wr_id; above them a value, and above 32 the number of a send. Of
 * VTAG_BUFFER, which is 0, all of it is the buffer's address. */
enum vtag { VTAG_BUFFER, VTAG_SEND, VTAG_CREDIT, VTAG_RMA, VTAG_LOCAL, VTAG_BITS = 3 };

static inline uint64_t vtag_make(enum vtag tag, uint32_t number, uint32_t value)
{
	return (uint64_t)number << 32 | (uint64_t)value << VTAG_BITS | (uint64_t)tag;
}

static inline enum vtag vtag_of(uint64_t wr_id)
{
	return (enum vtag)(wr_id & ((1u << VTAG_BITS) - 1));
}

static inline uint32_t vtag_value(uint64_t wr_id)
{
	return (uint32_t)wr_id >> VTAG_BITS;
}

static inline uint32_t vtag_number(uint64_t wr_id)
{
	return (uint32_t)(wr_id >> 32);
}

enum vmode { VMODE_STREAM, VMODE_SWITCHING, VMODE_QUEUE };

enum vstate {
	VSTATE_PLAIN,	/* TCP, perhaps for ever */
	VSTATE_OFFERED, /* accepting end: the peer told its queue pairs; connecting end: they were told */
	VSTATE_READY,	/* both know all */
};

struct vrma_slot {
	void *cookie;
	int rc;
	bool used, done, held; /* held: as in struct zrma_done */
};

struct vdoubt { /* that a port is why a queue pair failed, whose event may yet come: since when, and when it was asked
		 */
	int64_t since_ms, asked_ms;
};

struct vdone { /* of what the device was to do for itself (a memory window) */
	bool done;
	int rc;
};

struct vreg;

struct vlate { /* a window that the device has not bound in time, and the memory it is for; or NULL */
	struct ibv_mw *mw;
	struct vreg *reg;
};

struct vtx {
	struct vqueue queue;
	struct vpool *pool;
	struct vpass *pass;
	int epoll;
	enum vmode mode;
	bool armed;	  /* notification was asked for */
	bool told_ready;  /* connecting end */
	bool watches_out; /* the TCP connection's room is watched */
	bool want_buffer; /* the last refusal was for lack of one */
	bool waits;	  /* was refused since it was armed last */
	bool stopping;	  /* our own end, in another thread than the pool's: what it has is given back by fini */
	int failing;	  /* why it cannot go on, where the reason to be told may still be another */
	struct vdoubt doubt;
	pthread_mutex_t noticing; /* of the next two, and the channel: not on the data path */
	bool quiet;		  /* of errors alone is to be told: the receive half's thread takes notice */
	enum vnotice awaits;
	int error;
	uint32_t limit, sent; /* sends that may have been made; that have */
	uint32_t depth;	      /* of the send queue: twice the window, as completions are late */
	uint32_t signal;      /* one in so many reports its completion */
	uint32_t head, tail;  /* sends in it */
	uint32_t send_bytes, inline_bytes;
	uint32_t held; /* buffers under way */
	bool holds;    /* is in the pool's list of those with more than their own */
	struct vlink *next_holder;
	uint32_t run, run_held; /* sends since the last that reports; those of them with a buffer */
	uint32_t credits_used;	/* receives for credit that are to be posted again */
	uint32_t refused;
	uint32_t writes;
	uint32_t reaps;	     /* in vain, while there are writes */
	int64_t given_up_ms; /* when its queue pair was asked first to end what is under way; 0: it was not */
	uint64_t copied;     /* bytes of payload */
	uint8_t *rest;	     /* of a message that was taken and could not be sent wholly */
	size_t rest_at, rest_len;
	uint32_t list; /* sends that are not posted */
	struct vrma_slot rma[VRMA_MAX];
	struct vdone local;
	struct vlate late_window;
	struct vbuf **slot; /* [slot_mask + 1]: what a send holds, or NULL */
	uint32_t slot_mask;
	struct ibv_send_wr wr[VLIST_MAX];
	struct ibv_sge sge[VLIST_MAX];
	uint8_t (*copy)[VINLINE_MAX]; /* [VLIST_MAX]: of inline sends that are not posted */
};

struct varrival {
	struct vbuf *buf;
	uint32_t len;
};

struct vrx {
	struct vqueue queue;
	struct vpool *pool;
	struct vpass *pass;
	int epoll;
	enum vmode mode;
	bool armed;
	enum vnotice awaits;
	bool granted;	 /* credits were given at all */
	bool proven;	 /* and one that was has been acknowledged: there is a way to the peer and back */
	bool useless;	 /* there is none, which was said: messages stay with TCP */
	bool due;	 /* credit is to be told, and the send queue was full */
	bool fin;	 /* the TCP connection ended */
	bool closing;	 /* the peer said CLOSE, after close_at sends */
	bool stopping;	 /* our own end */
	bool blind;	 /* the completion queue has failed: what it shows is not all, nor so the next */
	int64_t late_ms; /* since when those that have not come yet are looked for; 0: they are not */
	int error;
	int broken; /* why no more will come; what has come is still delivered */
	struct vdoubt doubt;
	int sender; /* why the send half has failed, of which its thread may not know; the least of reasons */
	uint32_t close_at;
	uint32_t limit, consumed;
	int32_t extra;	       /* of the pool's shared credits */
	uint32_t window;       /* how many sends it should have ahead, as its use says (credit.c) */
	uint32_t told, ahead;  /* when credit was told last: consumed then; given then */
	uint32_t burst, calms; /* since then the most that were there at once; times in a row that they were few */
	uint32_t send_bytes;
	uint32_t sends, run, vain; /* credits under way; since the last that reports; polls in vain */
	uint32_t reads;
	uint32_t reaps;	     /* in vain, while there are reads */
	int64_t given_up_ms; /* as of vtx */
	uint64_t copied;     /* bytes of payload */
	/* the message that is being put together, or waits because it was refused */
	struct vbuf *kept; /* a whole one, in its buffer */
	bool open, whole;
	struct zwire_env env;
	uint8_t raw[ZWIRE_ENV_BYTES];
	uint8_t *placed, *memory; /* payload goes to the one or, if NULL, the other */
	uint32_t have;
	/* what came and was not looked at: never more than the window */
	uint32_t next, got;
	struct varrival arrival[VARRIVALS];
	struct vbuf *unwanted; /* stopping: what failed, or is more than the peer may send */
	struct vrma_slot rma[VRMA_MAX];
	struct vdone local;
	struct vlate late_window;
};

/* How far its end has come (drain.c), and until when that waits. */
enum vdrain_step { VDRAIN_NOT, VDRAIN_SENDS, VDRAIN_RECEIVES, VDRAIN_DONE };

struct vdrain {
	enum vdrain_step step;
	bool sends; /* what was posted may still arrive */
	int64_t begun_ms, until_ms;
};

struct vlink {
	struct zlink base;
	struct zlink *stream;	 /* the TCP connection, by the tcp transport */
	struct vdevice *dev;	 /* NULL: plain */
	struct vshare *share[2]; /* by half; NULL: not yet */
	struct vaddress address;
	struct vnet net;
	struct vframe peer;   /* OFFER or ANSWER */
	struct vframe answer; /* accepting end: ours, until it is told */
	int connected;	      /* accepting end: of the queue pairs, what vpath_connect returned */
	struct vlife life;
	struct vlookout lookout;		 /* the receive half's */
	bool connecting;			 /* this is the connecting end */
	struct zendpoint *own;			 /* connecting end: the process's */
	uint32_t offered_rx_psn, offered_tx_psn; /* connecting end */
	uint32_t reads;				 /* that may be under way at a time, by either end */
	char own_port[VFRAME_PORT_BYTES];	 /* connecting end: that of ours it is to use; "": it is found */
	char port[VFRAME_PORT_BYTES];		 /* accepting end: the listener's; connecting end: the peer's */
	_Atomic int state;
	struct vdrain drain;
	_Atomic bool told_path; /* that packets to the peer are not acknowledged */
	alignas(VLINE) struct vtx tx;
	alignas(VLINE) struct vrx rx;
};

static inline bool vlink_is_ready(const struct vlink *l)
{
	return atomic_load_explicit(&l->state, memory_order_acquire) == VSTATE_READY;
}

static inline int vlink_lost(struct vlink *l)
{
	return atomic_load_explicit(&l->life.lost, memory_order_acquire);
}

/* setup.c: queue pairs of a link. */
struct zendpoint;
/* The connecting end, with the process's endpoint; or settle does it with others. */
int vsetup_connecting(struct vlink *, struct zerr *);
int vsetup_settle(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
int vsetup_begin(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
void vsetup_wait(struct zlink *, struct zerr *);
int vsetup_end(struct zlink *, struct zerr *);
/* The connecting end, on ANSWER. 0, VPATH_NONE or a negative errno. */
int vsetup_answered(struct vlink *);
/* Of one that is drained, or has no queue pairs. */
void vsetup_undo(struct vlink *);
/* Sends a frame over the TCP connection. */
int vsetup_tell(struct vlink *, enum vframe_type, uint32_t count);

/* halves.c: queues and buffers, once the halves have joined their shares. VHALVES_NONE: there is not even the least
 * of memory, or no shared receive queue, nothing is left behind, and that has been warned of; where nobody is warned it
 * is an error. */
#define VHALVES_NONE 1
int vhalves_make(struct vlink *, struct zerr *);

/* share.c */
int vendpoint_open(struct zendpoint **, struct zerr *);
void vendpoint_close(struct zendpoint *);
/* Is memory pinned, or registered, that keeps its devices? */
bool vendpoint_has_regions(const struct zendpoint *);

/* path.c: states of the queue pairs. Once they are made: */
int vpath_open(struct vlink *, struct zerr *);
/* One-sided reads that may be under way, as far as we are concerned. */
uint16_t vpath_reads(const struct vlink *);
/* Can packets go to the peer's address? */
int vpath_check(const struct vlink *, struct zerr *);
/* Our send half's queue pair and the peer's receive half's, and the other two. VPATH_NONE: the network has no way to
 * the peer's GID (RoCE), which was warned of; they are of no use, and messages can stay with TCP. */
#define VPATH_NONE 1
int vpath_connect(struct vlink *, const struct vframe *us, struct zerr *);

/* A broken queue pair, or one whose peer has gone, reports all that is under way: it gets into its error state. */
void vpath_give_up(struct ibv_qp *);

/* tx.c (with notice.c) and rx.c (with rx_stream.c and credit.c): the halves; as in transport.h. */
int vtx_init(struct vlink *, struct zerr *);
void vtx_fini(struct vlink *);
int vtx_post(struct zlink *, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len);
int vtx_flush(struct zlink *);
int vtx_arm(struct vlink *);
/* Takes completions and credits. 0 or why it is broken. */
int vtx_reap(struct vlink *);
/* Hands the list to the device. */
int vtx_ring(struct vlink *);
/* A send to be filled, in the list; the queue has room. */
struct ibv_send_wr *vtx_next(struct vlink *, struct ibv_sge **);
bool vtx_has_slot(const struct vtx *);
/* Is there a buffer that this link may have? Beyond its own ones, as many as it leaves to the others. */
static inline bool vtx_may_have_buffer(const struct vtx *tx)
{
	int32_t beyond = (int32_t)tx->held - VPOOL_OWN;
	return tx->pool->free && (beyond < 0 || beyond < tx->pool->shared);
}
/* holders.c: has more than its own from now on, by which others may take what is complete of it; takes what is complete
 * of all others: is there a buffer now?; and another thread is about to close it. */
void vtx_hold(struct vlink *);
bool vtx_reap_holders(struct vlink *);
void vtx_leave_holders(struct vlink *);
/* 0: what comes goes by the queue pair; 1: over TCP still; negative: not now, or broken. */
int vtx_change_over(struct vlink *);
/* All that there was to send has been sent: of errors, to the receive half's thread. */
int vtx_expect_errors(struct vlink *);

int vrx_init(struct vlink *, struct zerr *);
/* Closing, while what this end has sent is on its way still: has the peer sent more than it may? */
bool vrx_is_greedy(struct vlink *);
/* Closing: the queue pair is to take no more receives from those of others. true: that it does not is awaited. */
bool vrx_stop(struct vlink *);
void vrx_fini(struct vlink *);
int vrx_poll(struct zlink *, const struct zsink *, unsigned budget);
int vrx_arm(struct vlink *);
int vrx_unplace(struct zlink *);
int vrx_reap(struct vlink *);
/* credit.c: posts free buffers again and gives the sender credit, if there is reason to. 0 or why it is broken. */
int vrx_grant(struct vlink *);
/* The same after a look for messages, of which so many were there. delivered: some were, for which somebody waits: not
 * now, if it can wait. */
int vrx_renew(struct vlink *, bool delivered, uint32_t burst);
/* As poll, while messages travel over TCP. */
int vrx_poll_stream(struct vlink *, const struct zsink *, unsigned budget);
/* Afterwards: for CLOSE and for its end. */
void vrx_look_at_stream(struct vlink *);

/* drain.c: all that was posted is acknowledged, CLOSE is said, and the receives are given back; or it is too late. As
 * in transport.h; and until then. */
int vdrain(struct zlink *);
void vdrain_stop_sending(struct zlink *);
void vdrain_wait(struct vlink *);

/* link.c */
/* A negative errno for a completion's status. */
int vlink_error(enum ibv_wc_status);
/* Why a link ends, where its queue pairs say `rc`: if the port or device does not work, that is why. 0: to be asked
 * again, as that may turn out. */
int vlink_reason(struct vlink *, struct vdoubt *, int rc);
/* Warns, once for a link, that the peer has never acknowledged a packet. goes_on: by TCP. */
void vlink_tell_path(struct vlink *, bool goes_on);
/* The contexts whose events are the link's business. How many. */
int vlink_contexts(const struct vlink *, struct ibv_context *[VCONTEXTS]);
/* For who waits without sleeping: handles events of the device and its ports, if there are any. */
void vlink_look(struct vlink *);
/* notice.c. Asks a queue for the next event, of errors or of all, once those that were raised are taken. false: the
 * device refuses. */
bool vnotice_await(const struct vqueue *, enum vnotice *, enum vnotice wanted);
/* Takes the event that is awaited, if it has been raised. */
bool vnotice_take(const struct vqueue *, enum vnotice *);
/* The receive half's thread: the sender's queue has told of something. true: its queue pair has failed. */
bool vnotice_of_sender(struct vlink *);
/* Takes an event of a completion channel, if there is one. */
bool vlink_event(struct ibv_comp_channel *);
/* After sleeping, what else may have woken us: looks for events of the device and at the send half. true: the TCP
 * connection has something. */
bool vlink_woken(struct vlink *, int epoll);
/* Our end of the TCP connection, in the memory given; NULL if unknown. */
struct sockaddr;
struct sockaddr_storage;
const struct sockaddr *vlink_local(const struct vlink *, struct sockaddr_storage *);
/* Has the TCP connection ended? */
bool vlink_hung_up(const struct vlink *);

#endif
