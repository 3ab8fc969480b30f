/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data channels of this rank: one link for each track (rails.h) and other part that this rank talks to, and one to
 * each rank that it talks to directly (direct.h), each with the messages that wait to be posted. A zipper whose link
 * fails is lost (loss.h). The failure of a direct link ends the job: the world is not whole without it. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_CHANNEL_H
#define ZIP_LIBZIP_CHANNEL_H

#include <stdbool.h>

#include "common/control/ctl.h"
#include "common/transport/base/transport.h"
#include "common/wire/wire.h"
#include "common/session/session_attach.h"
#include "libzip/shim/station.h"
#include "libzip/stream/oplist.h"
#include "libzip/world/rails.h"

struct pollfd;
struct zremote;
struct zstation;

struct zcontrol { /* an unsequenced envelope that found the link full; from the pool */
	struct zcontrol *next;
	struct zremote *remote;
	struct zwire_env env;
	uint8_t key[ZRMA_KEY_BYTES];
};

struct zchannel {
	struct zstation *station;
	struct zrails_track by; /* by which zipper, and which of its workers; not of a direct link */
	int part;		/* to which part it leads */
	uint32_t peer;		/* the rank at the other end; ZWIRE_NOBODY: zipperd */
	struct zlink *link;	/* NULL: not opened yet, or the peer has left */
	bool waiting;		/* to be decided between a direct link and the bridge: nothing is posted */
	int broken;		/* why nothing can be posted; of a direct link: whether that matters shows what comes */
	uint64_t placed;	/* transfer whose memory was given last for a fragment that arrives */
	uint64_t msgs, bytes;	/* that were posted: messages (EAGER and RTS), and payload of EAGER and DATA */
	bool full;		/* the link refused a post in this turn */
	bool held_back;		/* something posted is not flushed */
	struct zcontrol *control_head, *control_tail;
	struct zremote *ready_head, *ready_tail; /* ranks with sequenced messages to post */
	struct zoplist data;			 /* sends with a grant to use, in turns */
	struct zoplist fetching;		 /* receives that read from the peer's memory (fetch.h) */
	struct zchannel *next;			 /* direct ones only */
};

/* job: used until zchannel_fini. 0 or -ENOMEM. */
int zchannel_init(struct zstation *, const char *job);
/* Says BYE on every open channel and waits until it is out. */
void zchannel_say_bye(struct zstation *);
/* Closes all channels; closed is called for each whose link has been closed, before it is freed. */
void zchannel_fini(struct zstation *, void (*closed)(struct zchannel *));

/* The channel of that track to a part, opened if it is not. Where that zipper is lost the channel has no link;
 * the failover then takes care of what is put into its lists. */
struct zchannel *zchannel_open(struct zstation *, struct zrails_track, int part);
/* The channel for everything that goes by a zipper to this rank, except messages to several. */
struct zchannel *zchannel_home(struct zstation *, uint32_t vrank);
/* The channel that takes lists of receivers (carrier.h). */
struct zchannel *zchannel_carrier(void);

/* The channel of a rank that may become a direct link. NULL: no memory. */
struct zchannel *zchannel_create_waiting(struct zstation *, uint32_t vrank);
/* Connects to a rank, or makes a link that has come to stay this station's own. As zsession_attach_direct, and settle
 * in transport.h. */
int zchannel_link(struct zstation *, struct zlink **, const struct zaddr *, const struct zctl_attach *, int timeout_ms,
	struct zerr *);
int zchannel_settle(struct zstation *, struct zlink *, struct zerr *);
/* The channel has a link now, over which the first message is awaited; or the link is known to be good. */
void zchannel_set_link(struct zchannel *, struct zlink *);
void zchannel_set_up(struct zchannel *);
/* Takes the channel out of the list of open ones and closes its link. The caller sees to its fetching. */
void zchannel_close_link(struct zchannel *);
/* Closes all channels by that zipper, which is lost. Operations that waited to be posted there are dropped from its
 * lists. */
void zchannel_close_rail(struct zstation *, int rail);
/* Notes the loss of the zipper at the other end, with the reason rc. */
void zchannel_lose_zipper(const struct zchannel *, int rc);
/* A few words for the reason why a link has ended. */
const char *zchannel_describe_end(const struct zchannel *, int rc);
/* A fragment of that transfer that is arriving gives up the memory that it was to go to. Not while links are polled. */
void zchannel_unplace(struct zstation *, uint64_t xfer);
/* Adds what was posted on direct links to each part. [zworld.nparts] */
void zchannel_add_direct(struct zctl_to_part *parts);

/* Is there nothing left to post or flush, or to read from a peer's memory? */
bool zchannel_idle(const struct zstation *);
/* For sleeping: arms all links and appends their descriptors, at most zchannel_fds(), to the n that are in fds. Returns
 * the new number, or -1: do not sleep. */
int zchannel_fds(const struct zstation *);
int zchannel_arm(struct zstation *, struct pollfd *fds, int n);

#endif
