/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a session on its link, one after the other, for session.c and session_attach.c. Blocking calls sleep on
 * the link's descriptor. Messages that come during such a call, and are not its answer, stay in the inbox. One thread.
 */
#ifndef ZIP_COMMON_SESSION_SESSION_IO_H
#define ZIP_COMMON_SESSION_SESSION_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/auth.h"
#include "common/control/ctl.h"
#include "common/hosts/hops.h"
#include "common/transport/base/transport.h"

struct zsession_inbox { /* messages that have come, oldest first */
	struct zsession_inbox *next;
	struct zctl_msg msg;
};

struct zsession {
	struct zlink *link;
	int timeout_ms;
	uint32_t protocol; /* that both sides speak; 0: our own */
	char where[320];   /* "zipperd at tcp:10.1.0.1:7474" */
	struct zsession_inbox *head, **tail;
	uint8_t key[ZAUTH_KEY_BYTES];		/* of the session with the zipperd that was greeted last */
	enum zseal_level seal;			/* of the link */
	struct zerr bad;			/* why a message broke the link */
	int64_t heard_ms, asked_ms, watched_ms; /* asked_ms: 0: zipperd has answered since */
};

/* Connects, and writes the peer's name into where (of cap bytes), for messages. */
int zsession_io_connect(struct zlink **, const struct zaddr *zipper, const char *who, bool settled_later,
	int timeout_ms, char *where, size_t cap, struct zerr *);
/* Writes "zipperd at ADDRESS"; who: another name than zipperd, or NULL. */
void zsession_io_name(char *where, size_t cap, const char *who, const struct zaddr *zipper);

/* Seals the link with these keys, and wipes them. Returns 0 or a negative errno with text. */
int zsession_io_seal(struct zlink *, struct zseal *, const struct zauth_ops *, struct zerr *);
/* Sleeps until the half has something to do. deadline_ms < 0: there is none. Returns 0 (look again) or -ETIMEDOUT. */
int zsession_io_sleep(struct zlink *, enum zlink_half, int64_t deadline_ms);
/* Sends one envelope, or one message, before the deadline. Returns 0 or a negative errno. */
int zsession_io_send_env(struct zlink *, const struct zwire_env *, const void *payload, int64_t deadline_ms);
int zsession_io_send(struct zlink *, const struct zctl_msg *, int64_t deadline_ms);
/* The same in the protocol of the session. */
int zsession_io_say(struct zsession *, const struct zctl_msg *, int64_t deadline_ms);
/* Sends a request and waits for its answer of this type, which the caller frees, or for ERROR. forever: the answer may
 * take any time. */
int zsession_io_request(struct zsession *, const struct zctl_msg *out, uint16_t type, struct zctl_msg *in, bool forever,
	struct zerr *);
/* Takes messages that have come. Returns 1: the inbox has a message; 0: it has none; negative: the link is broken and
 * the inbox empty. */
int zsession_io_fill(struct zsession *);
/* Takes the message at this place out of the inbox. */
void zsession_io_pop(struct zsession *, struct zsession_inbox **at, struct zctl_msg *);
void zsession_io_drop(struct zsession *); /* empties the inbox */
/* Writes the reason why a link broke with rc. Returns rc. */
int zsession_io_broken(struct zsession *, int rc, struct zerr *);
/* Fills in REACH for that hop, to this address. share: as in ctl.h. */
void zsession_io_fill_reach(struct zctl_reach *, const struct zhop *, const struct zaddr *, uint32_t share);

#endif
