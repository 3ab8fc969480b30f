/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the tcp transport, clear or sealed: its state, and the code that both have in common. The code of the data
 * path is inline. Threads as in transport.h. */
#ifndef ZIP_COMMON_TRANSPORT_TCP_TCP_LINK_H
#define ZIP_COMMON_TRANSPORT_TCP_TCP_LINK_H

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/transport/base/transport.h"

#define TCP_MESSAGE_MAX (ZWIRE_ENV_BYTES + (size_t)ZWIRE_MAX_PAYLOAD)
/* A copy of 8 KiB costs about as much as the system call that it saves. */
#define TCP_GATHER_MESSAGE_BYTES ((size_t)8 * 1024)
#define TCP_GATHER_BYTES ((size_t)64 * 1024)	 /* the largest segment TCP builds at a time */
#define TCP_READ_BYTES ((size_t)64 * 1024)	 /* one read of small messages; stays in the cache */
#define TCP_READ_EXACT_BYTES ((size_t)16 * 1024) /* the rest of a longer message is read exactly */
/* After a large message that was placed another one is likely, and bytes of it that are read ahead must be copied. */
#define TCP_READ_CAUTIOUS_BYTES ((size_t)2 * 1024)
#define TCP_LINE 64 /* cache line */

struct tcp_tx {
	uint8_t *buf;	   /* TCP_GATHER_BYTES + TCP_MESSAGE_MAX */
	size_t head, tail; /* the bytes that are held back */
	bool blocked;	   /* the kernel's buffer was full */
	int error;
};

struct tcp_rx {
	uint8_t *buf;	   /* TCP_MESSAGE_MAX + TCP_READ_BYTES */
	size_t head, tail; /* received and not yet taken */
	/* The message at head, once its envelope is decoded (open). */
	bool open;
	struct zwire_env env;
	uint8_t *placed;    /* where the sink wants the payload; NULL: in the buffer */
	uint8_t *elsewhere; /* ZWIRE_MAX_PAYLOAD bytes, once a place was taken back */
	size_t have;	    /* bytes of the payload in placed */
	size_t used;	    /* bytes of the message in the buffer */
	bool refused;	    /* the message is whole in elsewhere, and is to be shown again */
	bool cautious;	    /* the next read shall bring little */
	int error;
};

struct tcp_link {
	struct zlink base;
	int fd;
	struct tcp_seal *seal; /* NULL: it is not sealed */
	alignas(TCP_LINE) struct tcp_tx tx;
	alignas(TCP_LINE) struct tcp_rx rx;
};

/* The operations that do not depend on seals, as in transport.h. */
void tcp_link_guard(struct zlink *);
void tcp_link_close(struct zlink *);
int tcp_link_unplace(struct zlink *);
int tcp_link_fd(const struct zlink *, enum zlink_half, uint32_t *events);

/* ---- send half ---- */

/* Offers bytes to the kernel. Returns how many it took, -EAGAIN (none, it is full), or the error that broke the link.
 */
static inline ssize_t tcp_link_send_some(struct tcp_link *l, struct iovec *iov, int count)
{
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)count};
	for (;;) {
		ssize_t n = sendmsg(l->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			return n;
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			l->tx.blocked = true;
			return -EAGAIN;
		}
		l->tx.error = -errno;
		return l->tx.error;
	}
}

static inline void tcp_link_hold_back(struct tcp_tx *tx, const void *bytes, size_t len)
{
	if (len)
		memcpy(tx->buf + tx->tail, bytes, len);
	tx->tail += len;
}

/* ---- receive half ---- */

/* Decodes the envelope at head, asks the sink for a place, and moves the bytes of the payload that have come there. */
static inline int tcp_link_open_message(struct tcp_rx *rx, const struct zsink *sink)
{
	uint8_t *at = rx->buf + rx->head;
	int rc = zwire_decode(&rx->env, at);
	if (rc < 0)
		return rc;
	size_t len = rx->env.len;
	if (sink->max_len && len > sink->max_len)
		return -EPROTO;
	rx->open = true;
	rx->used = ZWIRE_ENV_BYTES + len;
	rx->placed = sink->place && len ? sink->place(sink->ctx, &rx->env) : NULL;
	if (!rx->placed)
		return 0;
	size_t come = rx->tail - rx->head - ZWIRE_ENV_BYTES;
	rx->have = come < len ? come : len;
	memcpy(rx->placed, at + ZWIRE_ENV_BYTES, rx->have);
	if (come < len) { /* the next bytes follow the envelope */
		rx->tail = rx->head + ZWIRE_ENV_BYTES;
		rx->used = ZWIRE_ENV_BYTES;
	}
	return 0;
}

/* The message was refused when it was shown from elsewhere. The sink may want it in a place of its own now. */
static inline void tcp_link_place_again(struct tcp_rx *rx, const struct zsink *sink)
{
	uint8_t *place = sink->place ? sink->place(sink->ctx, &rx->env) : NULL;
	rx->refused = false;
	if (place)
		rx->placed = memcpy(place, rx->elsewhere, rx->env.len);
}

/* Moves the bytes that were received and not taken to the front of the buffer. */
static inline void tcp_link_compact(struct tcp_rx *rx)
{
	rx->tail -= rx->head;
	if (rx->head && rx->tail)
		memmove(rx->buf, rx->buf + rx->head, rx->tail);
	rx->head = 0;
}

/* The bytes of the open message that have not come. */
static inline size_t tcp_link_missing(const struct tcp_rx *rx)
{
	if (rx->placed)
		return rx->env.len - rx->have;
	size_t come = rx->tail - rx->head;
	return come < rx->used ? rx->used - come : 0;
}

/* Shows the message at head. Returns 1: taken, 0: not whole yet, -EAGAIN: refused, or the error that broke the link. */
static inline int tcp_link_deliver(struct tcp_rx *rx, const struct zsink *sink)
{
	int rc;
	if (!rx->open) {
		if (rx->tail - rx->head < ZWIRE_ENV_BYTES)
			return 0;
		rc = tcp_link_open_message(rx, sink);
		if (rc < 0)
			return rx->error = rc;
	}
	if (tcp_link_missing(rx))
		return 0;
	if (rx->refused)
		tcp_link_place_again(rx, sink);
	const uint8_t *at = rx->buf + rx->head;
	rc = sink->take(sink->ctx, &rx->env, at, rx->placed ? rx->placed : at + ZWIRE_ENV_BYTES);
	rx->refused = rc == -EAGAIN && rx->placed && rx->placed == rx->elsewhere;
	if (rx->refused)
		return rc;
	rx->open = false;
	if (rc == -EAGAIN && !rx->placed)
		return rc;
	if (rc < 0)
		return rx->error = rc == -EAGAIN ? -EINVAL : rc;
	rx->head += rx->used;
	rx->cautious = rx->placed && rx->env.len >= TCP_READ_EXACT_BYTES;
	return 1;
}

static inline int tcp_link_arm_rx(const struct tcp_rx *rx)
{
	struct zwire_env env;
	size_t come = rx->tail - rx->head;
	if (rx->error)
		return 1;
	if (rx->open)
		return tcp_link_missing(rx) == 0;
	if (come < ZWIRE_ENV_BYTES)
		return 0;
	return zwire_decode(&env, rx->buf + rx->head) < 0 || come >= ZWIRE_ENV_BYTES + (size_t)env.len;
}

#endif
