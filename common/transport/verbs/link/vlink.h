/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link of the verbs transport: two queue pairs, one for each direction, beside a TCP connection.
 *
 * The TCP connection comes first. Messages travel over it (by the tcp transport) until the accepting end settles the
 * link and both ends have told each other their queue pairs (vframe.h). Connections that never get that far, as those
 * for control, cost no queue pair. Then each direction changes over to its queue pair by itself. The TCP connection
 * stays open: its end tells that the peer has died.
 *
 * In each direction the send half of one end has a queue pair that is connected to the queue pair of the other end's
 * receive half. Messages are sends into the shared receive queue of the receiving thread; a message that is longer than
 * a buffer is cut. Each send needs a credit. The receive half tells the sender by the same two queue pairs, in the
 * immediate data of an empty send, how many sends it may have made in all. So receiver-not-ready does not happen. By
 * the same queue pairs the receiving end reads, and the sending end writes, the peer's memory (vrma.h).
 *
 * Completions are polled. Each half has a completion queue and channel of its own, which its thread alone uses.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VLINK_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VLINK_H

#include <infiniband/verbs.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/vaddress.h"
#include "common/transport/verbs/device/vdevice.h"
#include "common/transport/verbs/device/vlife.h"
#include "common/transport/verbs/device/vlookout.h"
#include "common/transport/verbs/link/vframe.h"
#include "common/transport/verbs/link/vrx_state.h"
#include "common/transport/verbs/link/vtx_state.h"

#define VCONTEXTS 3		 /* of a link, at most: the device's, and one of each half's endpoint */
#define VWATCHED (VCONTEXTS + 4) /* descriptors of a half */

/* How the receive half's thread watches the send half's completion channel (epoll) while the send half is quiet. */
#define VWATCH_SENDER (EPOLLIN | EPOLLET)

struct vshare;

enum vstate {
	VSTATE_PLAIN,	/* TCP, perhaps for ever */
	VSTATE_OFFERED, /* accepting end: the peer has told its queue pairs; connecting end: ours were told */
	VSTATE_READY,	/* both ends know all queue pairs */
};

/* The steps of a link's end (vdrain.c). */
enum vdrain_step { VDRAIN_NOT, VDRAIN_SENDS, VDRAIN_RECEIVES, VDRAIN_DONE };

struct vdrain {
	enum vdrain_step step;
	bool sends; /* posted messages may still arrive */
	int64_t begun_ms, until_ms;
};

struct vlink {
	struct zlink base;
	struct zlink *stream;	 /* the TCP connection, by the tcp transport */
	struct vdevice *dev;	 /* NULL: the link has no queue pairs */
	struct vshare *share[2]; /* by half; NULL: not yet */
	struct vaddress address;
	struct vnet net;
	struct vframe peer;   /* OFFER or ANSWER */
	struct vframe answer; /* accepting end: our ANSWER, until it is told */
	int connected;	      /* accepting end: the result of vpath_connect */
	struct vlife life;
	struct vlookout lookout;		 /* the receive half's */
	bool connecting;			 /* this is the connecting end */
	struct zendpoint *own;			 /* connecting end: the process's */
	uint32_t offered_rx_psn, offered_tx_psn; /* connecting end */
	uint32_t reads;				 /* one-sided reads that may be under way at a time, by either end */
	char own_port[VFRAME_PORT_BYTES]; /* connecting end: the port of ours that it shall use; "": to be found */
	char port[VFRAME_PORT_BYTES];	  /* accepting end: the listener's; connecting end: the peer's */
	_Atomic int state;
	struct vdrain drain;
	_Atomic bool told_path; /* warned: packets to the peer are not acknowledged */
	alignas(VLINE) struct vtx tx;
	alignas(VLINE) struct vrx rx;
};

static inline bool vlink_is_ready(const struct vlink *l)
{
	return atomic_load_explicit(&l->state, memory_order_acquire) == VSTATE_READY;
}

/* 0, or the negative errno with which the device has ended the link. */
static inline int vlink_lost(struct vlink *l)
{
	return atomic_load_explicit(&l->life.lost, memory_order_acquire);
}

/* A negative errno for a completion's status. */
int vlink_error(enum ibv_wc_status);
/* Why a link ends whose queue pairs say rc. If the port or the device does not work, that is the reason. 0: ask again,
 * as that may still turn out. */
int vlink_reason(struct vlink *, struct vdoubt *, int rc);
/* Warns, once for a link, that the peer has never acknowledged a packet. goes_on: messages go on by TCP. */
void vlink_tell_path(struct vlink *, bool goes_on);
/* Fills in the contexts whose events concern the link. Returns how many there are. */
int vlink_contexts(const struct vlink *, struct ibv_context *[VCONTEXTS]);
/* Handles events of the device and its ports, for a thread that waits without sleeping. */
void vlink_look(struct vlink *);
/* Our end of the TCP connection, in the memory given; NULL if unknown. */
struct sockaddr;
struct sockaddr_storage;
const struct sockaddr *vlink_local(const struct vlink *, struct sockaddr_storage *);
/* Has the TCP connection ended? */
bool vlink_hung_up(const struct vlink *);
/* Posts a frame on the TCP connection. Returns as post in transport.h. */
int vlink_post_frame(struct vlink *, const struct vframe *);

#endif
