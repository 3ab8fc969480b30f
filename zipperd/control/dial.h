/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that zipperd makes, and the wait for the network of those that it accepts: a thread each, so that an
 * address that does not answer holds nobody up, and so many at a time; more of them wait. Control thread.
 */
#ifndef ZIPPERD_DIAL_H
#define ZIPPERD_DIAL_H

#include "zipperd/control/daemon.h"
#include "common/transport/base/transport.h"

struct dial;

/* The link (still to be settled, where its transport does that) is the callee's; NULL: there is none, and err says why.
 */
typedef void dial_done(void *owner, struct zlink *, const struct zerr *err);

/* 0 or a negative errno with text. */
int dials_open(struct daemon *, struct zerr *);
/* Waits for those under way: some seconds, and where names of hosts are not found as long as that takes. */
void dials_close(struct daemon *);
/* Never calls done itself. user stays the caller's. 0 or a negative errno with text: no such transport, out of memory.
 */
int dial_start(struct dial **, struct daemon *, const struct zaddr *, const char *user, dial_done *, void *owner,
	struct zerr *);
/* The same for settle_wait of an accepted link (transport.h), which nobody else uses until done gives it back; what is
 * to follow is settle_end, also where there was no thread. */
int dial_settle(struct dial **, struct daemon *, struct zlink *, const char *user, dial_done *, void *owner,
	struct zerr *);
void dial_drop(struct dial *); /* nobody wants to know any more */
/* The link of dial_settle, where that waits for others still: true, and done is not called. */
bool dial_take_back(struct dial *);

#endif
