/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data channels and direct links: connections that carry rank messages once the first control messages have told whose
 * they are. Blocking, with timeouts. One thread per link.
 */
#ifndef ZIP_COMMON_SESSION_SESSION_ATTACH_H
#define ZIP_COMMON_SESSION_SESSION_ATTACH_H

#include "common/control/ctl.h"
#include "common/hosts/hops.h"
#include "common/transport/base/transport.h"

/* The way of a data channel to its zipperd, as in the session that was opened before (session.h). */
struct zsession_way {
	const struct zaddr *zipper;
	const struct zhop *hops;
	int nhops;
	uint8_t (*passes)[ZCTL_TOKEN_BYTES]; /* [nhops], from zsession_open */
};

/* Opens a data channel: connect, HELLO(DATA), ATTACH. The link is the caller's and carries rank messages at once. */
int zsession_attach(struct zlink **, const struct zaddr *zipper, const char *job, const struct zctl_attach *,
	int timeout_ms, struct zerr *);
/* As zsession_attach, and settles the link to an endpoint of the caller, which one thread at a time uses. A transport
 * with endpoints makes the endpoint with the first link (*own is NULL until then). The caller closes the endpoint with
 * that transport's endpoint_close, after all links of the endpoint. */
int zsession_attach_to(struct zlink **, const struct zsession_way *, const char *job, const struct zctl_attach *,
	struct zendpoint **own, int timeout_ms, struct zerr *);

/* Opens a direct link to a rank that listens at addr: connect, ATTACH. The rank's first envelope is its consent. own:
 * as in zsession_attach_to, or NULL. */
int zsession_attach_direct(struct zlink **, const struct zaddr *addr, const struct zctl_attach *,
	struct zendpoint **own, int timeout_ms, struct zerr *);

#endif
