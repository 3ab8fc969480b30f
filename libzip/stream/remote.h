/* SPDX-License-Identifier: BSD-3-Clause */
/* This rank's state of each remote rank, made on first use. Under the shim's lock. */
#ifndef ZIP_LIBZIP_REMOTE_H
#define ZIP_LIBZIP_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/stream/channel.h"
#include "libzip/stream/oplist.h"
#include "libzip/stream/peer.h"

struct zstation;

struct zremote {
	struct zpeer stream;
	struct zstation *station;
	uint32_t vrank;
	struct zchannel *channel; /* the rank's own: its direct link, or the channel by zippers */
	struct zoplist pending;	  /* sends that are not in the stream yet, in order */
	struct zremote *ready_next, *owed_next;
	bool ready;   /* in the channel's list of ranks with something to post */
	bool by_list; /* the messages in its stream go by lists of receivers, over the carrier (carrier.h) */
	/* Of each rail the first incarnation that is not lost: that it was told, and has told (failover.h). */
	uint16_t rails_told[ZCTL_RAILS_MAX], rails_heard[ZCTL_RAILS_MAX];
	bool busy;	  /* for failover.c alone: something is under way by its usual way */
	bool rails_asked; /* it has asked, and its transfers are to be restarted */
	bool owed;	  /* in the list of ranks that we may owe an acknowledgement */
};

/* 0 or -ENOMEM. */
int zremote_init(struct zstation *);
void zremote_fini(struct zstation *);

/* The state of a remote rank; on first use its channel is chosen (choice.h). NULL: no memory. */
struct zremote *zremote_get(struct zstation *, uint32_t vrank);
/* The same for a rank that has connected to this one: a new one's channel waits for a link, and zipperd is not asked.
 */
struct zremote *zremote_get_direct(struct zstation *, uint32_t vrank);
/* The same for a rank whose message came by zipperd. */
struct zremote *zremote_get_bridged(struct zstation *, uint32_t vrank);
/* NULL: never met. */
struct zremote *zremote_find(const struct zstation *, uint32_t vrank);

/* Is it decided that messages to that rank go by zippers? */
static inline bool zremote_is_bridged(const struct zremote *r)
{
	return r->channel->peer == ZWIRE_NOBODY && !r->channel->waiting;
}

#endif
