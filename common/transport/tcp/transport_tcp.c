/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tcp transport: messages over one non-blocking TCP connection, envelope and payload back to back.
 *
 * Send half: small messages are gathered and leave with one system call at flush. A large message leaves at once,
 * behind the gathered ones, straight from the caller's memory. Bytes of it that the kernel does not take are copied;
 * until they have gone every further post is refused. So one gather buffer and one message are all that is ever held.
 *
 * Receive half: one read takes many small messages into the buffer, where they are shown in place. The rest of a large
 * message is read exactly, into the place that the sink gave or into the buffer, and with it only the next envelope. So
 * a stream of large messages is never copied within user space.
 */
#include "common/transport/base/transport.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/transport/base/socket.h"
#include "common/transport/tcp/tcp_link.h"
#include "common/transport/tcp/tcp_sealed.h"
#include "common/transport/tcp/tcp_socket.h"

struct tcp_listener {
	struct zlistener base;
	struct zaddr addr;
	int fd, spare;
};

static int tcp_listen(struct zlistener **out, const struct zaddr *addr, struct zerr *err)
{
	struct tcp_listener *l = malloc(sizeof(*l));
	int fd = l ? tcp_socket_listen(addr, err) : zerr_set(err, -ENOMEM, "out of memory");
	if (fd < 0) {
		free(l);
		return zaddr_prefix(addr, err, fd, "cannot listen on");
	}
	l->base.ops = &ztransport_tcp;
	l->addr = *addr;
	l->fd = fd;
	l->addr.port = tcp_socket_port(l->fd);
	l->spare = zsocket_spare();
	*out = &l->base;
	return 0;
}

static void tcp_unlisten(struct zlistener *base)
{
	struct tcp_listener *l = (struct tcp_listener *)base;
	close(l->fd);
	if (l->spare >= 0)
		close(l->spare);
	free(l);
}

static int tcp_listener_fd(const struct zlistener *base)
{
	return ((const struct tcp_listener *)base)->fd;
}

static void tcp_listener_addr(const struct zlistener *base, struct zaddr *out)
{
	*out = ((const struct tcp_listener *)base)->addr;
}

/* Makes a link, which owns fd in any case. The buffers are large, but only their used part becomes memory. */
static int make_link(struct zlink **out, int fd, struct zerr *err)
{
	struct tcp_link *l = aligned_alloc(TCP_LINE, sizeof(*l));
	uint8_t *tx_buf = malloc(TCP_GATHER_BYTES + TCP_MESSAGE_MAX);
	uint8_t *rx_buf = malloc(TCP_MESSAGE_MAX + TCP_READ_BYTES);
	if (!l || !tx_buf || !rx_buf) {
		free(l);
		free(tx_buf);
		free(rx_buf);
		close(fd);
		return zerr_set(err, -ENOMEM, "out of memory for a connection");
	}
	memset(l, 0, sizeof(*l));
	l->base.ops = &ztransport_tcp;
	l->fd = fd;
	l->tx.buf = tx_buf;
	l->rx.buf = rx_buf;
	tcp_socket_peer(fd, l->base.peer, sizeof(l->base.peer));
	*out = &l->base;
	return 0;
}

static int tcp_connect(struct zlink **out, const struct zaddr *addr, int timeout_ms, struct zerr *err)
{
	int fd = tcp_socket_connect(addr, timeout_ms, err);
	return fd < 0 ? fd : make_link(out, fd, err);
}

static int tcp_accept(struct zlistener *base, struct zlink **out, struct zerr *err)
{
	struct tcp_listener *l = (struct tcp_listener *)base;
	int fd = zsocket_accept(l->fd, &l->spare, err);
	if (fd < 0)
		return fd;
	int rc = tcp_socket_tune(fd);
	if (rc < 0) { /* the peer has gone already */
		close(fd);
		return zerr_set(err, rc, "cannot set up a connection: %s", strerror(-rc));
	}
	return make_link(out, fd, err);
}

/* ---- send half ---- */

static int tcp_flush(struct zlink *base)
{
	struct tcp_link *l = (struct tcp_link *)base;
	struct tcp_tx *tx = &l->tx;
	if (tx->error)
		return tx->error;
	while (tx->head < tx->tail) {
		struct iovec iov = {tx->buf + tx->head, tx->tail - tx->head};
		ssize_t n = tcp_link_send_some(l, &iov, 1);
		if (n < 0)
			return (int)n;
		tx->head += (size_t)n;
	}
	tx->head = tx->tail = 0;
	tx->blocked = false;
	return 0;
}

/* Sends the held bytes and this message with one system call. The part of an accepted message that the kernel leaves
 * fits the buffer, as at most TCP_GATHER_BYTES are held back. */
static int send_now(struct tcp_link *l, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct tcp_tx *tx = &l->tx;
	size_t held = tx->tail - tx->head;
	struct iovec iov[3] = {
		{tx->buf + tx->head, held},
		{(void *)env, ZWIRE_ENV_BYTES},
		{(void *)payload, len},
	};
	int from = held ? 0 : 1;
	ssize_t n = tcp_link_send_some(l, iov + from, (len ? 3 : 2) - from);
	if (n < 0)
		return (int)n;
	size_t sent = (size_t)n;
	if (sent < held) {
		tx->head += sent;
		sent = 0;
	} else {
		tx->head = tx->tail = 0;
		sent -= held;
	}
	if (sent < ZWIRE_ENV_BYTES) {
		tcp_link_hold_back(tx, env + sent, ZWIRE_ENV_BYTES - sent);
		sent = 0;
	} else {
		sent -= ZWIRE_ENV_BYTES;
	}
	tcp_link_hold_back(tx, (const uint8_t *)payload + sent, len - sent);
	tx->blocked = tx->head < tx->tail;
	return 0;
}

static int tcp_post(struct zlink *base, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct tcp_link *l = (struct tcp_link *)base;
	struct tcp_tx *tx = &l->tx;
	if (tx->error)
		return tx->error;
	if (len > ZWIRE_MAX_PAYLOAD)
		return -EMSGSIZE;
	if (tx->blocked) {
		int rc = tcp_flush(base);
		if (rc < 0)
			return rc;
	}
	size_t total = ZWIRE_ENV_BYTES + len;
	if (total > TCP_GATHER_MESSAGE_BYTES || tx->tail + total > TCP_GATHER_BYTES)
		return send_now(l, env, payload, len);
	tcp_link_hold_back(tx, env, ZWIRE_ENV_BYTES);
	tcp_link_hold_back(tx, payload, len);
	return 0;
}

/* ---- receive half ---- */

/* Reads once. Returns 1: all bytes that were asked for have come, and there may be more; 0: fewer have come; or the
 * error that broke the link. Only called when no whole message is in the buffer, so there is room: see the size of buf.
 */
static int receive(struct tcp_link *l)
{
	struct tcp_rx *rx = &l->rx;
	tcp_link_compact(rx);
	size_t missing = rx->open ? tcp_link_missing(rx) : 0;
	size_t ahead = missing >= TCP_READ_EXACT_BYTES ? ZWIRE_ENV_BYTES
		       : rx->cautious		       ? TCP_READ_CAUTIOUS_BYTES
						       : TCP_READ_BYTES;
	ssize_t n;
	if (rx->open && rx->placed) {
		struct iovec iov[2] = {{rx->placed + rx->have, missing}, {rx->buf + rx->tail, ahead}};
		n = readv(l->fd, iov, 2);
	} else {
		n = recv(l->fd, rx->buf + rx->tail, missing + ahead, 0);
	}
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	if (n < 0)
		return rx->error = -errno;
	if (n == 0)
		return rx->error = rx->open || rx->tail ? -ECONNRESET : -ESHUTDOWN;
	size_t got = (size_t)n;
	int all = got == missing + ahead;
	if (rx->open && rx->placed) {
		size_t part = got < missing ? got : missing;
		rx->have += part;
		got -= part;
	}
	rx->tail += got;
	return all;
}

static int tcp_poll(struct zlink *base, const struct zsink *sink, unsigned budget)
{
	struct tcp_link *l = (struct tcp_link *)base;
	struct tcp_rx *rx = &l->rx;
	if (rx->error)
		return rx->error;
	for (int more = 1;;) {
		unsigned n = 0;
		int rc = 0;
		while (n < budget && (rc = tcp_link_deliver(rx, sink)) > 0)
			n++;
		if (n)
			return (int)n;
		if (rc < 0 || !more || !budget)
			return rc;
		more = receive(l);
		if (more < 0)
			return more;
	}
}

/* ---- sleeping ---- */

/* A wake-up for room makes sense only after the kernel had none. */
static int tcp_arm(struct zlink *base, enum zlink_half half)
{
	struct tcp_link *l = (struct tcp_link *)base;
	if (half == ZLINK_RX)
		return tcp_link_arm_rx(&l->rx);
	return l->tx.error || (!l->tx.blocked && tcp_flush(base) != -EAGAIN);
}

const struct ztransport ztransport_tcp = {
	.name = "tcp",
	.kind = ZADDR_TCP,
	.listen = tcp_listen,
	.connect = tcp_connect,
	.accept = tcp_accept,
	.listener_fd = tcp_listener_fd,
	.listener_addr = tcp_listener_addr,
	.unlisten = tcp_unlisten,
	.guard = tcp_link_guard,
	.seal = tcp_sealed_begin,
	.close = tcp_link_close,
	.post = tcp_post,
	.flush = tcp_flush,
	.poll = tcp_poll,
	.unplace = tcp_link_unplace,
	.fd = tcp_link_fd,
	.arm = tcp_arm,
	.max_payload = ZWIRE_MAX_PAYLOAD,
	/* On two cores each fragment is a turn of both ranks and zipperd. Bandwidth of a stream with 128 KiB: 0.9 of
	 * this; with 64 KiB: 0.75. Larger fragments gain nothing, as nothing of a fragment goes on before all of it has
	 * come. */
	.fragment_bytes = ZTRANSPORT_FRAGMENT_MAX,
	.inline_payload = 1024, /* in one segment with its envelope on any network */
};
