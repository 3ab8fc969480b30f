/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that zipperd makes: a thread each, so that an address that does not answer holds nobody up, and so many
 * at a time; more of them wait. Control thread.
 */
#ifndef ZIPPERD_DIAL_H
#define ZIPPERD_DIAL_H

#include "daemon.h"
#include "transport.h"

struct dial;

/* The link (still to be settled, where its transport does that) is the callee's; NULL: there is none, and err says why.
 */
typedef void dial_done(void *owner, struct zlink *, const struct zerr *err);

/* 0 or a negative errno with text. */
int dials_open(struct daemon *, struct zerr *);
void dials_close(struct daemon *); /* waits for those under way, some seconds at most */
/* Never calls done itself. NULL with text: no such transport, or out of memory. */
struct dial *dial_start(struct daemon *, const struct zaddr *, dial_done *, void *owner, struct zerr *);
void dial_drop(struct dial *); /* nobody wants to know any more */

#endif
