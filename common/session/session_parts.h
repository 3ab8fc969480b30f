/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner header of session.c and session_attach.c: messages on a link, one after the other. */
#ifndef ZIP_COMMON_SESSION_SESSION_PARTS_H
#define ZIP_COMMON_SESSION_SESSION_PARTS_H

#include <stdbool.h>

#include "common/session/session.h"

struct zsession_inbox { /* messages that came, oldest first */
	struct zsession_inbox *next;
	struct zctl_msg msg;
};

struct zsession {
	struct zlink *link;
	int timeout_ms;
	char where[320]; /* "zipperd at tcp:10.1.0.1:7474" */
	struct zsession_inbox *head, **tail;
	struct zerr bad;			/* why take broke the link */
	int64_t heard_ms, asked_ms, watched_ms; /* asked: 0: it has answered since */
};

/* Connects, and says in where (of cap bytes) whom that is with, for messages. */
int zsession_connect(struct zlink **, const struct zaddr *zipper, const char *who, bool settled_later, int timeout_ms,
	char *where, size_t cap, struct zerr *);
/* "zipperd at ADDRESS" */
void zsession_name(char *where, size_t cap, const char *who, const struct zaddr *zipper);
/* One message, before that time. 0 or a negative errno. */
int zsession_send(struct zlink *, const struct zctl_msg *, int64_t deadline);
/* A request and its answer, of this type, which the caller frees; or ERROR. */
int zsession_request(struct zsession *, const struct zctl_msg *out, uint16_t type, struct zctl_msg *in, bool forever,
	struct zerr *);
/* What comes from a link that broke with rc; returns that. */
int zsession_broken(struct zsession *, int rc, struct zerr *);
void zsession_drop_inbox(struct zsession *);
/* REACH for that hop, to this address. */
void zsession_fill_reach(struct zctl_reach *, const struct zhop *, const struct zaddr *);

#endif
