/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data channels of this rank: one link to each zipper for each other part that it talks to, and one to each rank
 * that it talks to directly (direct.h), with what waits to be posted on it. Under the shim's lock. A zipper whose link
 * fails is lost (failover.h), the failure of a direct link ends the job: the world is not whole without.
 */
#ifndef ZIP_LIBZIP_CHANNEL_H
#define ZIP_LIBZIP_CHANNEL_H

#include <stdbool.h>

#include "libzip/bridge/bridge.h"
#include "common/control/ctl.h"
#include "libzip/bridge/op.h"
#include "common/transport/base/transport.h"
#include "common/wire/wire.h"
#include "common/session/session_attach.h"

struct zremote;
struct zcontrol;

struct zchannel {
	int rail, part;	      /* by which zipper, and to which part; of a direct link no rail */
	uint32_t peer;	      /* the rank at the other end; ZWIRE_NOBODY: zipperd */
	struct zlink *link;   /* NULL: not opened yet, or the peer has left */
	bool waiting;	      /* to be decided between a direct link and the bridge: nothing is posted */
	int broken;	      /* why nothing can be posted; of a direct link: whether that matters shows what comes */
	uint64_t placed;      /* transfer whose memory was given last for a fragment that arrives */
	uint64_t msgs, bytes; /* that were posted: messages (EAGER and RTS), and payload of EAGER and DATA */
	bool full;	      /* the link refused a post in this turn */
	bool held_back;	      /* something posted is not flushed */
	struct zcontrol *control_head, *control_tail; /* unsequenced envelopes that found the link full */
	struct zremote *ready_head, *ready_tail;      /* peers with sequenced messages to post */
	struct zop_list data;			      /* sends with a grant to use, in turns */
	struct zop_list fetching;		      /* receives that read from the peer's memory (fetch.h) */
	struct zchannel *next;			      /* direct ones only */
};

/* Keeps the parameters. 0 or -ENOMEM. */
int zchannel_init(const struct zbridge_params *);
/* Says BYE on every open channel and waits until it is out. */
void zchannel_say_bye(void);
void zchannel_fini(void);

/* The channel by that rail's zipper to a part, opened if it is not. Without a link where that zipper is lost: then what
 * it is given is seen to with the rest. */
struct zchannel *zchannel_open(int rail, int part);
/* The one for all that goes by a zipper to this rank, but messages to several. */
struct zchannel *zchannel_home(uint32_t vrank);

/* The channel of a rank that may become a direct link. NULL: no memory. */
struct zchannel *zchannel_create_waiting(uint32_t vrank);
/* Connects to a rank, or makes a link that has come to stay this station's own. As zsession_attach_direct, and settle
 * in transport.h. */
int zchannel_link(struct zlink **, const struct zaddr *, const struct zctl_attach *, int timeout_ms, struct zerr *);
int zchannel_settle(struct zlink *, struct zerr *);
/* It has a link now, over which the first message is awaited; or is known to be good. */
void zchannel_set_link(struct zchannel *, struct zlink *);
void zchannel_set_up(struct zchannel *);
/* The rank goes over the bridge after all, and what waits in its own channel with it. */
void zchannel_hand_over(struct zremote *, struct zchannel *bridge);
/* Closes all by that zipper, which is lost; what waited to be posted there stays with who wanted it, or is dropped. */
void zchannel_close_rail(int rail);
/* A fragment of that transfer that is arriving gives up the memory that it was to go to. Not while links are polled. */
void zchannel_unplace(uint64_t xfer);
/* Adds what was posted on direct links to each part. [zworld.nparts] */
void zchannel_add_direct(struct zctl_to_part *parts);

/* Posts a message to a remote rank, by that channel or (NULL) its own; fills src, dst and ack. 0 or -EAGAIN (the link
 * is full). */
int zchannel_post(struct zremote *, struct zchannel *, struct zwire_env *, const void *payload);
/* Posts to zipperd or to those of a list; fills src alone. 0 or -EAGAIN. */
int zchannel_post_raw(struct zchannel *, struct zwire_env *, const void *payload);
/* Posts an unsequenced envelope, or keeps it until the link has room. key: [env->len], 0 or ZRMA_KEY_BYTES; copied. */
void zchannel_post_control(struct zremote *, struct zchannel *, struct zwire_env *, const uint8_t *key);
/* The peer has sequenced messages that the link did not take: tries again in a later turn. */
void zchannel_add_ready(struct zremote *);
/* Pushes out what was posted. */
void zchannel_flush(struct zchannel *);

/* One turn of sending on all channels, or of receiving. Returns whether anything happened. */
bool zchannel_send_turn(void);
bool zchannel_recv_turn(void);
/* Is there nothing left to post or flush, or to read from a peer's memory? */
bool zchannel_idle(void);

/* For sleeping: arms all links and appends their descriptors, at most zchannel_fds(), to the n that are in fds. Returns
 * how many there are, or -1: do not sleep. */
struct pollfd;
int zchannel_fds(void);
int zchannel_arm(struct pollfd *fds, int n);

#endif
