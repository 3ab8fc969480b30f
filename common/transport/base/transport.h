/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of transports: one operations table, which each transport implements for its kind of address (tcp, shm,
 * verbs). transports.h finds the implementation.
 *
 * A link is one end of a connection. It carries whole messages (envelope and payload), in order, both ways, or says
 * that it is broken. Nothing here blocks except connect (bounded by its timeout).
 *
 * Threads: a link has two halves. The send half (post, flush, arm and fd with ZLINK_TX) belongs to one thread. The
 * receive half (poll, arm and fd with ZLINK_RX) belongs to one thread, which may be another one. close needs both
 * halves to be at rest. On the data path the halves share no lock, and no cache line that either of them writes.
 */
#ifndef ZIP_COMMON_TRANSPORT_BASE_TRANSPORT_H
#define ZIP_COMMON_TRANSPORT_BASE_TRANSPORT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"
#include "common/control/seal.h"
#include "common/transport/base/addr.h"
#include "common/wire/wire.h"

struct zlink;	  /* begins with: const struct ztransport *ops; the rest is the implementation's */
struct zlistener; /* likewise */
struct zendpoint; /* the resources that one thread shares between the halves of its links, where the transport has such
		     a thing */

enum zlink_half { ZLINK_RX, ZLINK_TX };

/* The receiver of messages. ctx is passed through. */
struct zsink {
	/* Called with the decoded envelope before its payload has been copied anywhere. Returns memory for env->len
	 * bytes, into which the transport shall put the payload; or NULL: the transport then shows its own memory to
	 * take. The memory must stay valid until take was called for this message. Not called for an empty payload;
	 * called again when a refused message is shown again. May be NULL itself. */
	void *(*place)(void *ctx, const struct zwire_env *env);
	/* Called with one whole message. payload is the placed memory, or the transport's own, which is valid only
	 * during the call. raw is the envelope as it came (for forwarding). Returns 0: taken; -EAGAIN: there is no room
	 * now, show it again at the next poll (not allowed for a placed message); any other negative errno breaks the
	 * link. */
	int (*take)(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);
	void *ctx;
	/* The largest payload of a message, 0: any size. A longer message breaks the link with -EPROTO before the
	 * transport has kept any of it. A transport that keeps nothing in this process's memory may let it pass. */
	uint32_t max_len;
};

/*
 * One-sided operations, where a transport has them. One end of the link, the owner, exposes a piece of its memory for
 * one transfer and gets a key. It tells the key to the other end, the initiator, in messages of its own. The initiator
 * reads from that piece or writes to it as often as it likes, without the owner's CPU, until the owner takes the
 * exposure back.
 *
 * Halves: memory that the owner sends from belongs to the owner's send half, and the initiator reads it with its
 * receive half. Memory that the owner receives into belongs to the owner's receive half, and the initiator writes it
 * with its send half. So each operation uses the way and the thread of messages of the same direction.
 *
 * Order: there is none between one-sided operations, nor between them and messages, with one exception: a message that
 * is posted after a write to a link that is_ordered arrives when the bytes are in place. On other links the initiator
 * tells that data are complete only after reap has reported it. The owner exposes before it tells the key.
 *
 * Errors: an operation fails where the peer died, took the exposure back or told a wrong key. It breaks its half, as a
 * broken post or poll does: reap reports each operation that was under way with its negative errno, and returns the
 * error itself when all have been reported. That takes some seconds after the half broke at most, even where the peer
 * or the device says nothing any more. close drops operations that were not reported.
 */
#define ZRMA_KEY_BYTES 24 /* in messages as it is: the key has no byte order of ours */

struct zregion; /* memory of the initiator, registered in one domain of a device */

struct zrma_exposure { /* expose fills it; the caller keeps it in its place until conceal */
	void *impl;
	uint8_t key[ZRMA_KEY_BYTES];
};

struct zrma_op {
	const uint8_t *key; /* [ZRMA_KEY_BYTES], as the peer told it: nonsense costs the link at most */
	uint64_t offset;    /* from the beginning of the exposed memory */
	void *local;	    /* len bytes within region; nobody may touch them until reap has reported the operation */
	size_t len;	    /* 1 to zrma_limits.max_bytes */
	struct zregion *region; /* NULL where domain is NULL */
	void *cookie;		/* comes back from reap */
	bool more;		/* another operation follows at once: this one may be held back until then */
};

struct zrma_done {
	void *cookie;
	int rc;	   /* 0: the data are in place (read: in local; write: in the peer's memory); or a negative errno */
	bool held; /* with a negative errno: the device could not be stopped, and may touch local at any time */
};

struct zrma_limits {
	size_t max_bytes;	/* of one operation */
	uint32_t reads, writes; /* that may be outstanding on the halves of this link; 0: none is possible over it */
};

struct zrma {
	/*
	 * Owner. Opens exactly len bytes (1 or more) to the peer while the exposure stands: for reading (ZLINK_TX) or
	 * for writing (ZLINK_RX). May wait for the device: microseconds, and some milliseconds at most where the device
	 * is busy with a peer that does not answer. Returns 0; -EOPNOTSUPP: not over this link; -ENOMEM, -EAGAIN: not
	 * now, nothing to register with is left; another negative errno: not this memory. After an error the data are
	 * to be sent as messages.
	 */
	int (*expose)(struct zlink *, enum zlink_half, void *base, size_t len, struct zrma_exposure *);
	/* Owner. Takes the exposure back: on return the peer can reach the memory no more. To be called for every
	 * exposure before close, also right after the link broke. */
	void (*conceal)(struct zlink *, struct zrma_exposure *);

	/* Initiator. Set-up. Halves with the same domain share registered memory; NULL: the transport needs no
	 * registration. Two halves of one link may have different domains, where their endpoints share nothing. */
	const void *(*domain)(const struct zlink *, enum zlink_half);
	/* Registers memory with the device of this half, for all halves of its domain. The region may outlive these
	 * halves, but not their endpoint. One thread at a time per region; any region from any thread. The text with
	 * -ENOMEM says which limit to raise (RLIMIT_MEMLOCK). */
	int (*reg)(struct zlink *, enum zlink_half, void *base, size_t len, struct zregion **, struct zerr *);
	void (*unreg)(struct zregion *); /* no operation uses it */
	/* As reg, for operations of this half with len bytes at base. The memory is somebody else's, and may be
	 * unmapped when the region has been given back with unpin. Registrations may be kept, so this is fast for
	 * memory that is used again. Returns 0; -EOPNOTSUPP, -ENOMEM, others: not this memory, or not now. */
	int (*pin)(struct zlink *, enum zlink_half, void *base, size_t len, struct zregion **);
	void (*unpin)(struct zregion *); /* no operation uses it, or the link was closed */
	/* The device of the region has gone. The region is to be unregistered when the last half that used it has
	 * ended. Any thread. */
	bool (*is_lost)(const struct zregion *);
	/* The limits of this link. Constant once a message has come over the link, with one exception: operations may
	 * become impossible. Then messages go another way, and operations that are under way end the half. */
	void (*limits)(const struct zlink *, struct zrma_limits *);
	/* From now on, messages arrive after the bytes that were written before them (see above). Send half. */
	bool (*is_ordered)(const struct zlink *);

	/* Initiator. Data path. read belongs to the receive half, write to the send half. Returns 0: under way;
	 * -EAGAIN: the limit of outstanding operations is reached, try again after reap; others: broken. */
	int (*read)(struct zlink *, const struct zrma_op *);
	int (*write)(struct zlink *, const struct zrma_op *);
	/* Takes up to cap completions of that half. Returns their number, 0: there are none; or why the half is broken
	 * (see above). Before sleeping the half is armed with arm: the descriptor also becomes ready for completions.
	 * (While writes are under way ZLINK_TX is to be armed and watched, too.) */
	int (*reap)(struct zlink *, enum zlink_half, struct zrma_done *, unsigned cap);

	/* Either end. The link is about to be closed, and nobody wants anything of this half any more: it breaks,
	 * perhaps together with messages that were sent on it last. So operations under way end soon, whatever the peer
	 * does, and reap reports them; and conceal waits for no peer. The half's thread; any number of times. */
	void (*give_up)(struct zlink *, enum zlink_half);

	/* Operations of so many bytes and more are faster than messages, as measured; SIZE_MAX: only where a caller
	 * asks for them. */
	size_t min_bytes;
};

#define ZSETTLE_WAITS 2
#define ZTRANSPORT_FRAGMENT_MAX ((size_t)256 << 10)

struct ztransport {
	const char *name;
	enum zaddr_kind kind;
	const struct zrma *rma; /* NULL: the transport has no one-sided operations */

	/* Set-up, not on the data path. All return 0 or a negative errno with text in the zerr. The text of listen is
	 * "cannot listen on ADDRESS: why". */
	int (*listen)(struct zlistener **, const struct zaddr *, struct zerr *);
	int (*connect)(struct zlink **, const struct zaddr *, int timeout_ms, struct zerr *);
	/* -EAGAIN: no connection waits. The new link's peer text is filled (see struct zlink). Any error other than
	 * -EAGAIN concerns that one connection (or the lack of descriptors); the listener lives on. */
	int (*accept)(struct zlistener *, struct zlink **, struct zerr *);
	int (*listener_fd)(const struct zlistener *);			 /* readable when accept may succeed */
	void (*listener_addr)(const struct zlistener *, struct zaddr *); /* with the port that was chosen */
	void (*unlisten)(struct zlistener *);
	/* For a link that carries so little that its peer always has room for it, as a rank's control link: the end of
	 * the peer's host, or of the network, is noticed in half a minute, even while bytes are on their way to the
	 * peer. NULL: there is no difference. */
	void (*guard)(struct zlink *);
	/* From now on both directions of the link are sealed (common/control/seal.h): from the next message that is
	 * posted, and from the next one that is taken, on. The peer does the same behind the same messages. The link's
	 * operations are others afterwards. poll returns -EBADMSG for bytes that the peer has not sealed here and now,
	 * and delivers none of them; -ECONNRESET where the stream was cut. The code of the seal must stay loaded.
	 * Before the halves go to their threads, not from callbacks, and with nothing refused. Returns 0 or a negative
	 * errno with text: then the link is to be closed. NULL: the transport cannot, or it is sealed. */
	int (*seal)(struct zlink *, const struct zseal *, struct zerr *);
	/* The end of a link whose halves are at rest for good. Flushed messages may still be on their way, and close
	 * waits some seconds for them at most. drain begins the end and does not wait. It returns 0: close will not
	 * wait either; -EAGAIN: ask again in some milliseconds. (Many links can be drained at the same time, within the
	 * same seconds.) After drain only close is allowed. NULL: close never waits. */
	int (*drain)(struct zlink *);
	void (*close)(struct zlink *); /* drops messages that were not flushed */
	/* Before drain, where another thread drains: the send half's thread says its last. The half is at rest for
	 * good. Without this call drain and close say it. NULL: there is nothing to say. */
	void (*stop_sending)(struct zlink *);

	/*
	 * For transports that set up the best way of a link only once it has come to stay; NULL where there is nothing
	 * to do.
	 *
	 * settle tells an accepted link the endpoints of the threads that its halves will go to. It is called at most
	 * once, before the halves go to their threads; the link's descriptors may be others afterwards. An unsettled
	 * link carries messages, but not in the transport's best way. settle fails for lack of resources: then the link
	 * is to be closed. 1: the other end has not told yet what it can do; the link may be settled later, or stay as
	 * it is.
	 *
	 * connect gives a link that is settled, with an endpoint that all such links of the process share: one thread
	 * at a time uses them. connect_plain gives a link that is to be settled as an accepted one. An endpoint serves
	 * any number of links; it is closed after all of them. Both are the set-up thread's.
	 */
	int (*connect_plain)(struct zlink **, const struct zaddr *, int timeout_ms, struct zerr *);
	/* For a connecting link that is not settled yet: our port that the link is to use, as it was listened on.
	 * Without this call the port is found. NULL: there is no choice. */
	void (*use_port)(struct zlink *, const struct zaddr *own);
	int (*settle)(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
	/* settle in three parts, for a caller that may not wait: settle may wait a second or two while the network is
	 * asked where the peer is (RoCE). NULL: settle does not wait. settle_begin returns as settle, or ZSETTLE_WAITS.
	 * Then settle_wait is to be called, in any thread while nobody else uses the link, and after it settle_end,
	 * which returns as settle. All get the same zerr. */
	int (*settle_begin)(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
	void (*settle_wait)(struct zlink *, struct zerr *);
	int (*settle_end)(struct zlink *, struct zerr *);
	int (*endpoint_open)(struct zendpoint **, struct zerr *);
	void (*endpoint_close)(struct zendpoint *);

	/* Data path. */
	/* Takes one message of len payload bytes (at most max_payload): all of it or nothing. The memory may be reused
	 * on return. The message may be held back until flush. Returns 0; -EAGAIN: full, try again after arm(TX);
	 * -EPIPE and others: broken. */
	int (*post)(struct zlink *, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len);
	/* Sends messages that post held back. Returns 0: nothing is held back any more; -EAGAIN: something is, arm(TX);
	 * others: broken. */
	int (*flush)(struct zlink *);
	/* Delivers up to budget messages. Returns the number of messages taken; 0: none was there; -EAGAIN: take
	 * refused the first; -ESHUTDOWN: the peer closed at a message boundary and everything before was delivered;
	 * -ECONNRESET, -EPROTO and others: broken. */
	int (*poll)(struct zlink *, const struct zsink *, unsigned budget);

	/*
	 * Sleeping. fd is to be watched for *events (EPOLLIN or EPOLLOUT); they are the same for the link's life. arm
	 * announces sleep. It returns 0: armed, the fd will become ready; 1: do not sleep, there is something to do. A
	 * half that polls again needs no disarming. RX: arm also returns 1 while a message waits that take refused; do
	 * not arm then. TX is to be armed, and its fd watched, only after -EAGAIN; and it is to be armed again after
	 * every post or flush meanwhile, even a vain one. When the sender waits for nothing any more, it is to flush
	 * once: poll tells of messages that are lost afterwards.
	 */
	int (*fd)(const struct zlink *, enum zlink_half, uint32_t *events);
	int (*arm)(struct zlink *, enum zlink_half);

	/* Takes back the memory that place gave for a message which is still arriving, so that the memory can be freed.
	 * The rest of the message is received elsewhere, and take is called as for a message without a place, so it may
	 * refuse the message. No effect if there is no such message. Returns 0, or why the link is broken. NULL: this
	 * transport never holds a place between two polls. Receive half; not from callbacks of the same link. */
	int (*unplace)(struct zlink *);

	/* The bytes of payload that this half has copied within this process's memory so far because the device can
	 * reach only one of the two places (verbs). NULL: the transport consists of copies. The half's thread. */
	uint64_t (*copied)(const struct zlink *, enum zlink_half);

	size_t max_payload;    /* largest payload of one post */
	size_t fragment_bytes; /* of a large message in one post: the size that was fastest; at most
				  ZTRANSPORT_FRAGMENT_MAX */
	size_t inline_payload; /* up to this size envelope and payload cost no more than the envelope alone */
};

struct zlink {
	const struct ztransport *ops;
	char peer[64]; /* the other end, for messages: "10.1.0.2:5123", "pid 77 uid 1000" */
};

struct zlistener {
	const struct ztransport *ops;
};

/* Why a link broke with this negative errno, for messages. */
static inline const char *zlink_why(int rc)
{
	return rc == -EBADMSG ? "its sealed bytes were changed on the way, or another connection's" : strerror(-rc);
}

extern const struct ztransport ztransport_tcp;
extern const struct ztransport ztransport_shm;

#endif
