/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transports: one operations table, an implementation for each kind of address (tcp, shm, verbs).
 *
 * A link is one end of a connection that carries whole messages (envelope and payload), in order, both ways, or says
 * that it is broken. Nothing here blocks except connect (bounded by its timeout).
 *
 * Threads: a link has two halves. The send half (post, flush, arm and fd with ZLINK_TX) belongs to one thread, the
 * receive half (poll, arm and fd with ZLINK_RX) to one thread, which may be a different one. close needs both to be
 * at rest. The halves share no lock and no cache line that either writes on the data path.
 */
#ifndef ZIP_COMMON_TRANSPORT_BASE_TRANSPORT_H
#define ZIP_COMMON_TRANSPORT_BASE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/transport/base/addr.h"
#include "common/wire/wire.h"

struct zlink;	  /* begins with: const struct ztransport *ops; the rest is the implementation's */
struct zlistener; /* likewise */
struct zendpoint; /* what one thread shares between the halves of its links, where the transport has such a thing */

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
	int (*take)(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);
	void *ctx;
	/* Payload bytes of a message, 0: any number. A longer one breaks the link with -EPROTO, before the transport
	 * has kept any of it; where it keeps nothing in this process's memory, it may pass. */
	uint32_t max_len;
};

/*
 * One-sided operations, where a transport has them. One end of the link, the owner, exposes a piece of its memory for
 * one transfer and gets a key, which it tells the other end, the initiator, in messages of its own. The initiator reads
 * from or writes to that piece as often as it likes, without the owner's CPU, until the owner takes the exposure back.
 *
 * Halves: memory that the owner sends from belongs to its send half: the initiator reads it with its receive half.
 * Memory that the owner receives into belongs to its receive half: the initiator writes it with its send half. So each
 * operation uses the way that messages of the same direction take, and the same thread.
 *
 * Order: none between one-sided operations, nor between them and messages, but for a message that is posted after a
 * write to a link that is_ordered: it arrives when the bytes are in place. Otherwise the initiator says that
 * data are complete only after reap has said so. The owner exposes before it tells the key.
 *
 * Errors: an operation that fails (the peer died, took the exposure back, told a wrong key) breaks the half that it
 * belongs to, as a broken post or poll does: reap reports each operation that was under way with its negative errno,
 * and only when all have been reported does it return the error itself. That ends by itself, some seconds after the
 * half broke at most, also where the peer or the device says nothing any more. What close finds unreported is dropped.
 */
#define ZRMA_KEY_BYTES 24 /* in messages as it is: no byte order of ours */

struct zregion; /* memory of the initiator, known to one domain of a device */

struct zrma_exposure { /* filled by expose; the caller keeps it where it is until conceal */
	void *impl;
	uint8_t key[ZRMA_KEY_BYTES];
};

struct zrma_op {
	const uint8_t *key;	/* [ZRMA_KEY_BYTES], as the peer told it: any nonsense costs the link at most */
	uint64_t offset;	/* from the beginning of the exposed memory */
	void *local;		/* len bytes within region; not to be touched until reap has reported the operation */
	size_t len;		/* 1 to zrma_limits.max_bytes */
	struct zregion *region; /* NULL where domain is NULL */
	void *cookie;		/* comes back from reap */
	bool more;		/* another one follows at once: this one may be held back until it */
};

struct zrma_done {
	void *cookie;
	int rc;	   /* 0: the data are in place (read: in local; write: in the peer's memory); or a negative errno */
	bool held; /* with one: the device could not be stopped, and may touch local at any time */
};

struct zrma_limits {
	size_t max_bytes;	/* of one operation */
	uint32_t reads, writes; /* that may be outstanding on the halves of this link; 0: none are possible over it */
};

struct zrma {
	/* Owner. Opens len bytes (1 or more) to the peer, for as long as the exposure stands: for reading (ZLINK_TX)
	 * or for writing (ZLINK_RX), nothing around them and nothing else. May wait for the device: microseconds, and
	 * some milliseconds at most where that is busy with a peer that does not answer. 0; -EOPNOTSUPP: not over this
	 * link; -ENOMEM, -EAGAIN: not now (nothing to register with is left): send the data as messages; other negative
	 * errno: not this memory, likewise. */
	int (*expose)(struct zlink *, enum zlink_half, void *base, size_t len, struct zrma_exposure *);
	/* Owner. Takes it back: on return the peer can reach the memory no more. Also right after the link broke, and
	 * to be called for every exposure before close. */
	void (*conceal)(struct zlink *, struct zrma_exposure *);

	/* Initiator. Set-up: halves with the same domain share registered memory; NULL: the transport needs none. Two
	 * halves of one link may have different ones, where their endpoints share nothing. */
	const void *(*domain)(const struct zlink *, enum zlink_half);
	/* Registers memory with the device of this half; for all halves of its domain, and may outlive them, but not
	 * their endpoint. One thread at a time per region; any region from any thread. -ENOMEM says what to raise
	 * (RLIMIT_MEMLOCK). */
	int (*reg)(struct zlink *, enum zlink_half, void *base, size_t len, struct zregion **, struct zerr *);
	void (*unreg)(struct zregion *); /* no operation uses it */
	/* As reg, for operations of this half with len bytes at base, which are somebody else's and may be unmapped
	 * when the region has been given back with unpin. Registrations may be kept, so it is fast for memory that is
	 * used again. 0; -EOPNOTSUPP, -ENOMEM, others: not this memory, or not now. */
	int (*pin)(struct zlink *, enum zlink_half, void *base, size_t len, struct zregion **);
	void (*unpin)(struct zregion *); /* no operation uses it, or the link was closed */
	/* Its device has gone: it is to be unregistered when the last half that used it has ended. Any thread. */
	bool (*is_lost)(const struct zregion *);
	/* What this link can do; constant once a message has come over it, but for none being possible any more: then
	 * messages go another way, and what is under way ends the half. */
	void (*limits)(const struct zlink *, struct zrma_limits *);
	/* From now on, messages arrive after what was written before them (see above). Send half. */
	bool (*is_ordered)(const struct zlink *);

	/* Initiator. Data path. read belongs to the receive half, write to the send half. 0: under way; -EAGAIN: the
	 * limit of outstanding ones is reached, try again after reap; others: broken. */
	int (*read)(struct zlink *, const struct zrma_op *);
	int (*write)(struct zlink *, const struct zrma_op *);
	/* Takes up to cap completions of that half. How many, 0: none; or why the half is broken (see above). Before
	 * sleeping the half is armed with arm: the descriptor also becomes ready for completions (ZLINK_TX is to be
	 * armed and watched while writes are under way, too). */
	int (*reap)(struct zlink *, enum zlink_half, struct zrma_done *, unsigned cap);

	/* Either. The link is to be closed, and nobody wants anything of this half any more: it breaks, with what was
	 * sent on it last perhaps. So what is under way ends soon, whatever the peer does, and reap reports it; and
	 * conceal waits for no peer. The half's thread; any number of times. */
	void (*give_up)(struct zlink *, enum zlink_half);

	/* Bytes from which on it is faster than messages, as measured; SIZE_MAX: only for who asks for it. */
	size_t min_bytes;
};

#define ZSETTLE_WAITS 2
#define ZTRANSPORT_FRAGMENT_MAX ((size_t)256 << 10)

struct ztransport {
	const char *name;
	enum zaddr_kind kind;
	const struct zrma *rma; /* NULL: has no one-sided operations */

	/* Set-up, not on the data path. All return 0 or a negative errno with text in the zerr. That of listen is
	 * "cannot listen on ADDRESS: why". */
	int (*listen)(struct zlistener **, const struct zaddr *, struct zerr *);
	int (*connect)(struct zlink **, const struct zaddr *, int timeout_ms, struct zerr *);
	/* -EAGAIN: nobody is waiting. The new link's peer text is filled (see zlink_peer). Any error but -EAGAIN
	 * concerns that one connection (or the lack of descriptors), the listener lives on. */
	int (*accept)(struct zlistener *, struct zlink **, struct zerr *);
	int (*listener_fd)(const struct zlistener *);			 /* readable when accept may succeed */
	void (*listener_addr)(const struct zlistener *, struct zaddr *); /* with the port that was chosen */
	void (*unlisten)(struct zlistener *);
	/* For a link on which so little is sent that its peer always has room for it, as a rank's control link: the end
	 * of a peer's host, or of the network, is noticed in half a minute also while something is on its way to it.
	 * NULL: as without. */
	void (*guard)(struct zlink *);
	/* The end, of a link whose halves are at rest for good. What was flushed may still be on its way, for which
	 * close waits some seconds at most. drain begins with that and does not wait: 0: close will not either;
	 * -EAGAIN: ask again in some milliseconds (of many links it is the same seconds). Then close alone is allowed.
	 * NULL: close never waits. */
	int (*drain)(struct zlink *);
	void (*close)(struct zlink *); /* drops what was not flushed */
	/* Before that, by the send half's thread where another one drains: the last that this one has to say. The half
	 * is at rest for good. Drain and close say it else. NULL: there is nothing. */
	void (*stop_sending)(struct zlink *);

	/* For transports that make much of a link only once it has come to stay; NULL where there is nothing to do.
	 * settle tells for an accepted link, at most once and before its halves go to their threads, which endpoints
	 * these threads have; its descriptors may be others afterwards. An unsettled link carries messages, but not
	 * in the transport's best way. It fails for lack of resources: close it. 1: the other end has not said yet
	 * what it can; it may be settled later, or stay as it is.
	 * connect gives a link that is settled, with an endpoint that all such links share: who uses it does so in one
	 * thread at a time. connect_plain gives one that is settled as an accepted one is.
	 * An endpoint serves any number of links; it is closed when all have been. Both are the set-up thread's. */
	int (*connect_plain)(struct zlink **, const struct zaddr *, int timeout_ms, struct zerr *);
	/* Of a connecting link that is not settled yet: our port that it is to use, as it was listened on. NULL: there
	 * is no choice. Without it the port is found. */
	void (*use_port)(struct zlink *, const struct zaddr *own);
	int (*settle)(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
	/* The same for who may not wait, as settle may for a second or two while the network is asked where the peer is
	 * (RoCE). NULL: settle does not. begin: as settle, or ZSETTLE_WAITS: then wait is to be called, in any thread
	 * while nobody else uses the link, and then end, which returns what settle would; the zerr is the same one. */
	int (*settle_begin)(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
	void (*settle_wait)(struct zlink *, struct zerr *);
	int (*settle_end)(struct zlink *, struct zerr *);
	int (*endpoint_open)(struct zendpoint **, struct zerr *);
	void (*endpoint_close)(struct zendpoint *);

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
	 * arm says "I am about to sleep": 0: armed, the fd will become ready; 1: do not sleep, there is something to
	 * do. A half that polls again needs no disarming. For RX 1 also while a message waits that take refused: do not
	 * arm then. TX is to be armed, and its fd watched, only after -EAGAIN; and again, if anything was posted or
	 * flushed meanwhile, also in vain. When nothing is waited for any more, it is to be flushed once: what is lost
	 * afterwards poll tells, then. */
	int (*fd)(const struct zlink *, enum zlink_half, uint32_t *events);
	int (*arm)(struct zlink *, enum zlink_half);

	/* Takes back the memory that place gave for a message which is still arriving, so that it can be freed: the
	 * rest of the message is received elsewhere, and take called for it as for one that was never placed, so it may
	 * be refused. 0, or the link is broken. No effect if there is none. NULL: this transport never holds a place
	 * between two polls. Receive half; not from callbacks of the same link. */
	int (*unplace)(struct zlink *);

	/* Bytes of payload that this half has copied from one place of this process's memory to another so far, because
	 * the device can reach only the one (verbs). NULL: its copies are what the transport consists of. The half's
	 * thread. */
	uint64_t (*copied)(const struct zlink *, enum zlink_half);

	size_t max_payload;    /* largest payload of one post */
	size_t fragment_bytes; /* of a large message in one post: what was fastest; at most ZTRANSPORT_FRAGMENT_MAX */
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

#endif
