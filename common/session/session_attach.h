/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data channels and direct links: connections that carry rank messages once the first control messages have proved
 * whose they are. Blocking, with timeouts. One thread per link.
 */
#ifndef ZIP_COMMON_SESSION_SESSION_ATTACH_H
#define ZIP_COMMON_SESSION_SESSION_ATTACH_H

#include "common/control/auth.h"
#include "common/control/ctl.h"
#include "common/hosts/hops.h"
#include "common/session/session.h"
#include "common/transport/base/transport.h"

/* The way of a data channel to its zipperd, as in the session that was opened before (session.h). */
struct zsession_way {
	const struct zaddr *zipper;
	const struct zhop *hops;
	int nhops;
	const struct zsession_pass *passes; /* [nhops], from zsession_open */
	const char *user, *job;
	const uint8_t *key;    /* of the session with zipperd: zsession_key */
	enum zseal_level seal; /* of its connection: zsession_seal */
	uint32_t protocol;     /* the same: zsession_protocol; 0: our own */
	const struct zauth_ops *auth;
};

/* Opens a data channel: connect, HELLO(DATA), ATTACH, for which this makes nonce and ticket. The link is the caller's
 * and carries rank messages at once. own: NULL; or the link is settled to an endpoint of the caller, which one thread
 * at a time uses. A transport with endpoints makes the endpoint with the first link (*own is NULL until then). The
 * caller closes the endpoint with that transport's endpoint_close, after all links of the endpoint. */
int zsession_attach_to(struct zlink **, const struct zsession_way *, const struct zctl_attach *, struct zendpoint **own,
	int timeout_ms, struct zerr *);

/* Opens a direct link to a rank that listens at addr: connect, ATTACH as it is, in that protocol (0: our own). The
 * rank's first envelope is its consent. own: as in zsession_attach_to, or NULL. */
int zsession_attach_direct(struct zlink **, const struct zaddr *addr, uint32_t protocol, const struct zctl_attach *,
	struct zendpoint **own, int timeout_ms, struct zerr *);

#endif
