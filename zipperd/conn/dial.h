/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that zipperd makes, and the network's answer that accepted connections wait for. Each has a thread of its
 * own, so that an address that does not answer holds nobody up. Their number at a time is bounded; the rest waits.
 * Control thread.
 */
#ifndef ZIPPERD_DIAL_H
#define ZIPPERD_DIAL_H

#include "common/control/seal.h"
#include "common/transport/base/transport.h"
#include "zipperd/conn/daemon.h"

struct dial;

/* The link is the callee's, still to be settled where its transport does that. NULL: there is none, and err says why.
 */
typedef void dial_done(void *owner, struct zlink *, const struct zerr *err);

/* 0 or a negative errno with text. */
int dial_init(struct daemon *, struct zerr *);
/* Waits for the threads: some seconds, or as long as the resolver takes where it does not find the name of a host. */
void dial_fini(struct daemon *);
struct dial_seal {		/* how a connection to another zipperd is sealed */
	enum zseal_level level; /* at the least */
	const char *job;
	const uint8_t *key; /* the user's, which the other zipperd has, too; where level is not ZSEAL_NONE, and of a
			       trunk */
	uint64_t expires_s; /* of a trunk: key is that of a job credential with this end; 0: it is not */
	const struct zctl_trunk *trunk; /* it is to be a trunk (ctl.h); NULL: it is not */
};

/* Connects to the address, and seals the connection, unless level is ZSEAL_NONE; and makes it a trunk. Never calls done
 * itself. The names and the key are copied. 0 or a negative errno with text: no such transport, out of memory. */
int dial_start(struct dial **, struct daemon *, const struct zaddr *, const char *user, const struct dial_seal *,
	dial_done *, void *owner, struct zerr *);
/* The same for settle_wait of an accepted link (transport.h), which the thread has until done gives it back. The caller
 * is to call settle_end then, also where there was no thread. */
int dial_settle(struct dial **, struct daemon *, struct zlink *, const char *user, dial_done *, void *owner,
	struct zerr *);
/* In done, where there is no link: the negative errno. */
int dial_code(const struct dial *);
/* The owner does not want to know any more. */
void dial_drop(struct dial *);
/* true: the link of dial_settle had no thread yet, it is the owner's again, and done is not called. */
bool dial_take_back(struct dial *);

#endif
