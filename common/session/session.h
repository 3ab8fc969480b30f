/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peers' side of the control protocol: what a rank, a launcher or an admin does to talk to zipperd. Blocking, with
 * timeouts, except where it says poll. One thread.
 */
#ifndef ZIP_COMMON_SESSION_SESSION_H
#define ZIP_COMMON_SESSION_SESSION_H

#include "common/config/conf.h"
#include "common/control/auth.h"
#include "common/control/ctl.h"
#include "common/hosts/hops.h"
#include "common/transport/base/transport.h"

struct zsession; /* one control link */

struct zsession_params {
	struct zaddr zipper;	 /* where zipperd listens, seen from here */
	const struct zhop *hops; /* zipper is only the first: from there by these to the one that is meant */
	int nhops;
	/* [nhops]: of each zipperd before the last, for data channels; filled in by zsession_open. NULL: not wanted */
	uint8_t (*passes)[ZCTL_TOKEN_BYTES];
	const char *who; /* who listens there, for messages; NULL: "zipperd" */
	char user[ZCTL_NAME_MAX + 1];
	char job[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES];
	const struct zauth_ops *auth;
	int timeout_ms;	    /* for connecting and for each answer but WORLD */
	bool settled_later; /* for who releases the link and settles it: over the address's own transport */
};

/* Connects and proves who we are. 0, -EACCES (refused), -ETIMEDOUT, ...; err says what and names the peer. */
int zsession_open(struct zsession **, const struct zsession_params *, enum zctl_service, struct zerr *);
/* JOIN and wait for WORLD, however long it takes zipperd (it has the join timeout). Fills world. */
int zsession_join(struct zsession *, const struct zctl_join *, struct zctl_world *world, struct zerr *);
int zsession_create(struct zsession *, const struct zctl_create *, struct zerr *);
int zsession_stats(struct zsession *, struct zctl_stats_reply *, struct zerr *);
int zsession_abort(struct zsession *, uint32_t code, const char *text);
/* This zipper is of no use any more to a rank that has others: tells it why, if it still listens, and closes. */
void zsession_quit(struct zsession *, const char *why);
/* The link alone, right after opening: ends the session, which must not be used again. The link is the caller's. */
struct zlink *zsession_release(struct zsession *);
/* Asks for, or declines, a direct link; the answers come by zsession_poll. */
int zsession_direct(struct zsession *, enum zctl_direct_what, uint32_t vrank, uint32_t endpoint);
int zsession_traffic(struct zsession *, const struct zctl_traffic *);
/* Asks to be connected with who says the same of the other fabric. The answer comes over the link, see release. */
int zsession_meet(struct zsession *, const struct zctl_meet *, struct zerr *);
/* BYE, flush, close. */
void zsession_close(struct zsession *);

/* Next message from zipperd (EVENT, OPEN, DEAD, DIRECT) if one is there: 1 with msg filled (zctl_free it), 0 none,
 * -ESHUTDOWN/-ECONNRESET: zipperd is gone. Never blocks. */
int zsession_poll(struct zsession *, struct zctl_msg *, struct zerr *);
/* Who waits for zipperd calls this now and then: if nothing has come for a while it is asked whether it is there.
 * -ETIMEDOUT with text: it has not answered for limit_ms, in which this was called all the time. 0 as limit: it may
 * take its time. */
int zsession_watch(struct zsession *, int64_t limit_ms, struct zerr *);
/* That limit as a setting of ranks and launcher, which must agree; in a field that is int64_t. */
#define ZSESSION_TIMEOUT_ROW(owner, field)                                                                             \
	{                                                                                                              \
		.name = "timeout", .type = ZCONF_TIME_MS, .preset = "60s", .min = 0, .max = 24 * 3600 * 1000,          \
		.offset = offsetof(owner, field),                                                                      \
		.help = "A zipperd that does not answer for so long while somebody waits for it is lost, as if it "    \
			"had "                                                                                         \
			"ended; 0: it is waited for as long as its connection stands. Broken connections are noticed " \
			"in any case."                                                                                 \
	}
/* The descriptor to sleep on, and arm as in transport.h. */
int zsession_fd(const struct zsession *, uint32_t *events);
int zsession_arm(struct zsession *);

#endif
