/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers' side of the control protocol: what a rank, a launcher or an admin does to talk to zipperd. Calls block,
 * with timeouts, unless they say poll. One thread. */
#ifndef ZIP_COMMON_SESSION_SESSION_H
#define ZIP_COMMON_SESSION_SESSION_H

#include "common/config/conf.h"
#include "common/control/auth.h"
#include "common/control/ctl.h"
#include "common/control/munge.h"
#include "common/hosts/hops.h"
#include "common/transport/base/transport.h"

struct zsession; /* one control link */

/* With which a rank's data channels pass a zipperd on their way (ctl.h, Hops). */
struct zsession_pass {
	uint8_t name[ZCTL_TOKEN_BYTES];
	uint8_t key[ZAUTH_KEY_BYTES]; /* the session key of the connection that got it */
};

struct zsession_params {
	struct zaddr zipper;	 /* the address of zipperd, seen from here */
	const struct zhop *hops; /* hops from there to the zipperd that is wanted (hops.h) */
	int nhops;
	/* [nhops]: passes of each zipperd before the last, for data channels; zsession_open fills them in. NULL: not
	 * wanted */
	struct zsession_pass *passes;
	const char *who; /* the listener's name for messages; NULL: "zipperd" */
	char user[ZCTL_NAME_MAX + 1];
	char job[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES]; /* the user's, or that of a job credential */
	uint64_t expires_s;	      /* the end of the credential; 0: key is the user's */
	const struct zmunge *munge;   /* MUNGE proves who the user is, key is random; NULL: the key does */
	const struct zauth_ops *auth;
	int timeout_ms;	    /* for connecting, and for each answer other than WORLD */
	bool settled_later; /* the caller releases the link and settles it: the link uses the address's own transport */
};

/* Connects and proves our identity. A zipperd of an earlier release is spoken to in its protocol. If zipperd has too
 * many connections that prove theirs (max_strangers in zipperd.conf), tries again until the timeout. Returns 0, -EACCES
 * (refused), -ETIMEDOUT, ...; err says what failed and names the peer. */
int zsession_open(struct zsession **, const struct zsession_params *, enum zctl_service, struct zerr *);
/* The session key that we share with zipperd, ZAUTH_KEY_BYTES long; the session owns it. */
const uint8_t *zsession_key(const struct zsession *);
/* The protection of the connection, as both ends have agreed. Behind hops: of the way to the first zipperd. */
enum zseal_level zsession_seal(const struct zsession *);
/* The protocol that the session speaks: the lower one of both ends. */
uint32_t zsession_protocol(const struct zsession *);
/* Opens a trunk (ctl.h), whose link is the caller's and carries streams. -EPROTONOSUPPORT: zipperd is of a release
 * without trunks. */
int zsession_open_trunk(struct zlink **, const struct zsession_params *, const struct zctl_trunk *, struct zerr *);
/* Sends JOIN and waits for WORLD, however long it takes zipperd (which has the join timeout). Fills world. */
int zsession_join(struct zsession *, const struct zctl_join *, struct zctl_world *world, struct zerr *);
/* Sends JOIN alone: zsession_poll returns WORLD, or why there is none. */
int zsession_ask_join(struct zsession *, const struct zctl_join *, struct zerr *);
int zsession_create(struct zsession *, const struct zctl_create *, struct zerr *);
int zsession_stats(struct zsession *, struct zctl_stats_reply *, struct zerr *);
/* Asks for the statistics: zsession_poll returns STATS_REPLY. 0 or a negative errno. */
int zsession_ask_stats(struct zsession *);
/* Asks for all records, in as many questions as it takes. The reply is to be freed with zctl_status_free.
 * -EPROTONOSUPPORT: zipperd is of a release that cannot say. */
int zsession_status(struct zsession *, struct zctl_status_reply *, struct zerr *);
/* Asks zipperd to do that. text: what it has done. -EPROTONOSUPPORT as above. */
int zsession_control(struct zsession *, const struct zctl_control *, char text[ZCTL_TEXT_MAX + 1], struct zerr *);
int zsession_abort(struct zsession *, uint32_t code, const char *text);
/* Leaves a zipper that is of no use any more to a rank that has others: tells it why, if it still listens, and closes.
 */
void zsession_quit(struct zsession *, const char *why);
/* Ends the session right after opening, and returns its link, which is the caller's. The session must not be used
 * again. */
struct zlink *zsession_release(struct zsession *);
/* Asks for a direct link, or declines one. zsession_poll returns the answers. */
int zsession_direct(struct zsession *, enum zctl_direct_what, uint32_t vrank, uint32_t endpoint);
int zsession_traffic(struct zsession *, const struct zctl_traffic *);
/* Says what this rank does, see ctl.h. code: with ENDED. */
int zsession_state(struct zsession *, enum zctl_state_what, uint32_t code);
/* Asks about a published name. zsession_poll returns the answer. */
int zsession_naming(struct zsession *, const struct zctl_naming *);
/* Asks to be connected with the peer that says the same of the other fabric. The answer comes over the link, see
 * zsession_release. */
int zsession_meet(struct zsession *, const struct zctl_meet *, struct zerr *);
/* Says BYE and closes. */
void zsession_close(struct zsession *);

/* Takes the next message from zipperd (EVENT, OPEN, DEAD, DIRECT). Returns 1 with msg filled (to be freed with
 * zctl_free), 0: there is none, -ESHUTDOWN or -ECONNRESET: zipperd is gone. Never blocks. */
int zsession_poll(struct zsession *, struct zctl_msg *, struct zerr *);
/* A caller that waits for zipperd calls this now and then. If nothing has come for a quarter of the limit, zipperd is
 * asked whether it is there. Returns 0, or -ETIMEDOUT with text: zipperd has not answered for the rest of limit_ms,
 * during which this was called all the time. limit_ms 0: there is no limit. */
int zsession_watch(struct zsession *, int64_t limit_ms, struct zerr *);
/* That limit as a setting of ranks and the launcher, which must agree. The field is an int64_t. */
#define ZSESSION_TIMEOUT_ROW(owner, field)                                                                             \
	{                                                                                                              \
		.name = "timeout", .type = ZCONF_TIME_MS, .preset = "14s", .min = 0, .max = 24 * 3600 * 1000,          \
		.offset = offsetof(owner, field),                                                                      \
		.help = "A zipperd that says nothing for so long, while somebody waits for it, counts as lost, as if " \
			"it had ended. The job's last zipperd has four times as long. 0: it is waited for as long as " \
			"its connection stands. Broken connections are noticed in any case."                           \
	}
/* Do the ranks of a node share connections? The setting of ranks, which the launcher reads, too. auto: yes with so many
 * ranks on the node. */
enum zsession_node { ZSESSION_NODE_AUTO, ZSESSION_NODE_NO, ZSESSION_NODE_YES };
#define ZSESSION_NODE_RANKS 32
extern const char *const zsession_node_choices[];
/* The time for which the last zipper of a job may be away, as such a setting. */
#define ZSESSION_RECONNECT_ROW(owner, field)                                                                           \
	{                                                                                                              \
		.name = "reconnect", .type = ZCONF_TIME_MS, .preset = "60s", .min = 0, .max = 24 * 3600 * 1000,        \
		.offset = offsetof(owner, field),                                                                      \
		.help = "How long the last zipper of a job may be away, as for a restart of its zipperd. Then the "    \
			"job goes on with nothing lost; ranks that compute are waited for. A job with other zippers "  \
			"goes on at once, and uses a lost one again when it is back. 0: lost zippers are not used "    \
			"again, and the last one ends the job."                                                        \
	}
/* Measures how long zipperd takes to answer a rank or a launcher. 0, or a negative errno with text. */
int zsession_ping(struct zsession *, int64_t *ns, struct zerr *);
/* The descriptor to sleep on, and arm, as in transport.h. */
int zsession_fd(const struct zsession *, uint32_t *events);
int zsession_arm(struct zsession *);

#endif
