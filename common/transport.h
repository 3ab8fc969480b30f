/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transports: one operations table, an implementation for each kind of address (tcp, shm; verbs joins later).
 *
 * A link is one end of a connection that carries whole messages (envelope and payload), in order, both ways, or says
 * that it is broken. Nothing here blocks except connect (bounded by its timeout).
 *
 * Threads: a link has two halves. The send half (post, flush, arm and fd with ZLINK_TX) belongs to one thread, the
 * receive half (poll, arm and fd with ZLINK_RX) to one thread, which may be a different one. close needs both to be
 * at rest. The halves share no lock and no cache line that either writes on the data path.
 */
#ifndef ZIP_COMMON_TRANSPORT_H
#define ZIP_COMMON_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "addr.h"
#include "err.h"
#include "wire.h"

struct zlink;	  /* begins with: const struct ztransport *ops; the rest is the implementation's */
struct zlistener; /* likewise */

enum zlink_half { ZLINK_RX, ZLINK_TX };

/* Where received messages go. ctx is passed through. */
struct zsink {
	/* Called with the decoded envelope before its payload has been copied anywhere. Returns memory for env->len
	 * bytes into which the transport shall put the payload, or NULL: the transport then shows its own memory to
	 * take. The memory must stay valid until take was called for this message. Not called for an empty payload;
	 * called again when a refused message is shown again. May be NULL itself. */
	void *(*place)(void *ctx, const struct zwire_env *env);
	/* One whole message. payload is the placed memory, or the transport's own, valid only during the call.
	 * raw is the envelope as it came (for forwarding). Returns 0: taken; -EAGAIN: no room now, show it again at
	 * the next poll (not allowed for a placed message); any other negative errno: the link is broken with it. */
	int (*take)(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES],
		const void *payload);
	void *ctx;
};

struct ztransport {
	const char *name;
	enum zaddr_kind kind;

	/* Set-up, not on the data path. All return 0 or a negative errno with text in the zerr. */
	int (*listen)(struct zlistener **, const struct zaddr *, struct zerr *);
	int (*connect)(struct zlink **, const struct zaddr *, int timeout_ms, struct zerr *);
	/* -EAGAIN: nobody is waiting. The new link's peer text is filled (see zlink_peer). Any error but -EAGAIN
	 * concerns that one connection (or the lack of descriptors), the listener lives on. */
	int (*accept)(struct zlistener *, struct zlink **, struct zerr *);
	int (*listener_fd)(const struct zlistener *); /* readable when accept may succeed */
	void (*listener_addr)(const struct zlistener *, struct zaddr *); /* with the port that was chosen */
	void (*unlisten)(struct zlistener *);
	void (*close)(struct zlink *); /* drops what was not flushed */

	/* Data path. */
	/* Takes one message of len payload bytes (at most max_payload): all of it or nothing. The memory may be reused
	 * on return. 0; -EAGAIN: full, try after arm(TX); -EPIPE and others: broken. May be held back until flush. */
	int (*post)(struct zlink *, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len);
	/* Pushes what post held back. 0: nothing is held back any more; -EAGAIN: some is, arm(TX); others: broken. */
	int (*flush)(struct zlink *);
	/* Delivers up to budget messages. Returns how many were taken; 0: none there; -EAGAIN: take refused the first;
	 * -ESHUTDOWN: the peer closed at a message boundary and everything before was delivered; -ECONNRESET, -EPROTO
	 * and others: broken. */
	int (*poll)(struct zlink *, const struct zsink *, unsigned budget);

	/* Sleeping. fd is to be watched for *events (EPOLLIN or EPOLLOUT); one fd and events for the link's life.
	 * arm says "I am about to sleep": 0: armed, the fd will become ready; 1: do not sleep, there is something to do.
	 * A half that polls again needs no disarming. For RX 1 also while a message waits that take refused: do not
	 * arm then. TX is to be armed, and its fd watched, only after -EAGAIN. */
	int (*fd)(const struct zlink *, enum zlink_half, uint32_t *events);
	int (*arm)(struct zlink *, enum zlink_half);

	size_t max_payload;   /* largest payload of one post */
	size_t inline_payload; /* up to here envelope and payload cost no more than the envelope alone */
};

struct zlink {
	const struct ztransport *ops;
	char peer[64]; /* who is at the other end, for messages: "10.1.0.2:5123", "pid 77 uid 1000" */
};

struct zlistener {
	const struct ztransport *ops;
};

extern const struct ztransport ztransport_tcp;
extern const struct ztransport ztransport_shm;

/* The implementation for a kind of address, or NULL with the reason ("verbs is not part of this build"). */
const struct ztransport *ztransport_find(enum zaddr_kind, struct zerr *);

#endif
