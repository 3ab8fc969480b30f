/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trunks: connections between two zipperds that many hops of a job share (ctl.h, "Trunks"). One side, which makes hops,
 * opens the trunk and begins a stream for each of them (trunk_open.h). The other side accepts the trunk. A stream that
 * begins there is a connection as any other, until it becomes a channel. Control thread.
 */
#ifndef ZIPPERD_TRUNK_H
#define ZIPPERD_TRUNK_H

#include <uthash.h>

#include "zipperd/conn/channel.h"
#include "zipperd/conn/conn.h"
#include "zipperd/lane/lane.h"
#include "zipperd/lane/stream.h"

struct member;

struct trunk {
	struct list link; /* in daemon.trunks, until it is over */
	struct daemon *daemon;
	struct channel *channel; /* NULL: not connected yet, or closed */
	struct lane *lane[2];	 /* of what comes in; of what goes out */
	int nlanes;		 /* that workers have */
	struct trunk_rx rx;	 /* lent to the workers */
	struct trunk_tx tx;
	struct member *members; /* hash by id: its streams */
	uint32_t nstreams;	/* their number */
	struct user *account;
	char user[ZCTL_NAME_MAX + 1], job[ZCTL_NAME_MAX + 1];
	/* It has no streams now: the side that opens it ends it. */
	void (*idle)(struct trunk *);
	bool over;	    /* no new streams */
	struct list quiet;  /* in daemon.quiet: the other side has opened it, and it has no streams */
	int64_t quiet_ms;   /* then: the time of its end */
	bool leaving;	    /* the other side has heard that it is to begin none */
	struct list losing; /* in daemon.losing: its sending half is lost */
	int64_t lost_ms;    /* then: the time when the receiving half is, too */
	/* of the side that accepted it */
	const struct listener *listener;
	void (*conn_ready)(struct watch *);
	uint8_t seal; /* its protection, which is that of all its streams */
	/* of the side that opens it (trunk_open.c) */
	bool opens;
	struct zaddr there;
	int from, to; /* fabrics: of the peers; by which it goes */
	uint32_t share;
	struct dial *dial;   /* it is being connected; NULL: it is not */
	struct list waiting; /* circuits that wait for that */
	/* Tells them: workers have the link, or why not. NULL: nobody waits. */
	void (*answer)(struct trunk *, int rc, const struct zerr *);
	enum zseal_level level; /* of its protection, at the least */
};

/* An event of the workers, except EVENT_HALF_GONE. */
void trunk_event(const struct event *);
/* The trunk takes no new stream, and goes with the last of its streams. */
void trunk_end(struct trunk *);
void trunk_end_all(struct daemon *);
/* Ends trunks that are lost in one direction, after some time; and those without streams that others have opened. */
void trunk_expire_all(struct daemon *);
/* Is there a trunk whose time runs? */
bool trunk_any_timed(const struct daemon *);
/* It has no streams: its time runs, where the other side has opened it. */
void trunk_rest(struct trunk *);

/* For the other modules of trunks. A trunk without a link. NULL: out of memory. */
struct trunk *trunk_create(struct daemon *, const char *user, const char *job);
/* The link is the trunk's from now on. in, out: the workers of its halves. 0, or a negative errno with text: then the
 * link is still the caller's. */
int trunk_connect(struct trunk *, struct zlink *, struct worker *in, struct worker *out, struct zerr *);
void trunk_free(struct trunk *);

#endif
