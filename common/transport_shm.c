/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shm transport: messages through rings in memory shared by two processes of one host (shm_ring.h).
 *
 * Two Unix sockets belong to a link, one for each ring. They carry no data: a byte on one says to who sleeps on its
 * ring "look again", and their end is the end of the peer. A byte is sent only where the other side has said that it
 * sleeps. (An eventfd for each half would need an epoll descriptor around it and the socket; measured no faster.)
 *
 * Set-up: the connecting side makes memory and sockets and hands them over; its first messages may be in the ring
 * before the other side has looked. The accepted link is there at once and empty until the offer has come, which
 * either half may take. A consumer counts as sleeping from the beginning, so the first message always brings a byte.
 *
 * In the ring: envelope, payload, and nothing up to the next multiple of SHM_RING_ALIGN. Whole messages are
 * published at once, so a peer that dies leaves no half ones; dying without close is -ECONNRESET.
 */
#define _GNU_SOURCE
#include "transport.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm_link.h"
#include "shm_socket.h"
#include "socket.h"

_Static_assert(ZWIRE_ENV_BYTES + ZWIRE_MAX_PAYLOAD <= SHM_RING_BYTES, "the largest message fits the ring");
_Static_assert(ZWIRE_ENV_BYTES % SHM_RING_ALIGN == 0, "payloads are aligned");

/* Small messages become visible together, at flush or when they are this much. */
#define PUBLISH_BYTES ((uint64_t)32 << 10)
/* The consumer gives space back at the end of a poll or when it has this much. */
#define RELEASE_BYTES (SHM_RING_BYTES / 8)
/* So many vain tries between looks at the socket, which costs a system call. */
#define LOOK_EVERY 64

enum { LINK_WAITING, LINK_READY }; /* or the negative errno with which the offer failed */

struct shm_listener {
	struct zlistener base;
	int fd, spare;
	dev_t dev; /* of the socket file, to remove only our own */
	ino_t ino;
	struct zaddr addr;
};

/* ---- set-up ---- */

static int shm_listen(struct zlistener **out, const struct zaddr *addr, struct zerr *err)
{
	char path[SHM_PATH_MAX];
	struct stat st;
	int rc = shm_socket_path(path, addr, true, err);
	if (rc < 0)
		return rc;
	struct shm_listener *l = calloc(1, sizeof(*l));
	if (!l)
		return zerr_set(err, -ENOMEM, "out of memory");
	l->base.ops = &ztransport_shm;
	l->fd = shm_socket_listen(path, err);
	if (l->fd < 0) {
		rc = l->fd;
		free(l);
		return rc;
	}
	l->spare = zsock_spare();
	if (path[0] == '/' && lstat(path, &st) == 0) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
	}
	l->addr.kind = ZADDR_SHM;
	memcpy(l->addr.host, path, strlen(path) + 1);
	*out = &l->base;
	return 0;
}

static void shm_unlisten(struct zlistener *base)
{
	struct shm_listener *l = (struct shm_listener *)base;
	struct stat st;
	if (l->ino && lstat(l->addr.host, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->addr.host);
	close(l->fd);
	if (l->spare >= 0)
		close(l->spare);
	free(l);
}

static int shm_listener_fd(const struct zlistener *base)
{
	return ((const struct shm_listener *)base)->fd;
}

static void shm_listener_addr(const struct zlistener *base, struct zaddr *out)
{
	*out = ((const struct shm_listener *)base)->addr;
}

static struct shm_link *new_link(struct zerr *err)
{
	struct shm_link *l = aligned_alloc(SHM_LINE, sizeof(*l));
	if (!l) {
		zerr_set(err, -ENOMEM, "out of memory for a connection");
		return NULL;
	}
	memset(l, 0, sizeof(*l));
	l->base.ops = &ztransport_shm;
	atomic_flag_clear(&l->joining);
	l->tx.sock = l->tx.watch = l->rx.sock = -1;
	l->rx.armed = true;
	return l;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_link(struct shm_link *l)
{
	close_fd(l->tx.watch);
	close_fd(l->tx.sock);
	if (l->rx.sock != l->tx.sock)
		close_fd(l->rx.sock);
	shm_map_close(&l->map);
	free(l);
}

static void shm_close(struct zlink *base)
{
	struct shm_link *l = (struct shm_link *)base;
	if (atomic_load(&l->state) == LINK_READY)
		shm_producer_close(&l->tx.ring);
	free_link(l);
}

/* Makes memory and the second socket, and hands both over. */
static int make_offer(struct shm_link *l, struct zerr *err)
{
	int pair[2];
	int memory = shm_map_create(&l->map, err);
	if (memory < 0)
		return memory;
	int rc = 0;
	shm_rma_offer(l);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
		rc = zerr_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	} else {
		l->rx.sock = pair[0];
		rc = shm_socket_send_offer(l->tx.sock,
			(const int[SHM_OFFER_FDS]){[SHM_OFFER_MEMORY] = memory, [SHM_OFFER_SOCKET] = pair[1]});
		close(pair[1]);
		if (rc < 0)
			zerr_set(err, rc, "cannot hand over shared memory: %s", strerror(-rc));
	}
	close(memory);
	return rc;
}

static int shm_connect(struct zlink **out, const struct zaddr *addr, int timeout_ms, struct zerr *err)
{
	char path[SHM_PATH_MAX];
	int rc = shm_socket_path(path, addr, false, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "cannot connect to shm");
	struct shm_link *l = new_link(err);
	if (!l)
		return -ENOMEM;
	rc = l->tx.sock = shm_socket_connect(path, timeout_ms, err);
	if (rc >= 0)
		rc = shm_socket_check_peer(l->tx.sock, l->base.peer, sizeof(l->base.peer), err);
	if (rc >= 0)
		rc = make_offer(l, err);
	if (rc < 0) {
		free_link(l);
		return rc;
	}
	shm_producer_init(&l->tx.ring, &l->map, 0);
	shm_consumer_init(&l->rx.ring, &l->map, 1);
	atomic_store(&l->state, LINK_READY);
	*out = &l->base;
	return 0;
}

static int watch_fd(int epoll, int op, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events};
	return epoll_ctl(epoll, op, fd, &e) < 0 ? -errno : 0;
}

static int shm_accept(struct zlistener *base, struct zlink **out, struct zerr *err)
{
	struct shm_listener *listener = (struct shm_listener *)base;
	int fd = zsock_accept(listener->fd, &listener->spare, err);
	if (fd < 0)
		return fd;
	struct shm_link *l = new_link(err);
	if (!l) {
		close(fd);
		return -ENOMEM;
	}
	l->rx.sock = fd;
	int rc = shm_socket_check_peer(fd, l->base.peer, sizeof(l->base.peer), err);
	if (rc == 0) {
		l->tx.watch = epoll_create1(EPOLL_CLOEXEC);
		rc = l->tx.watch < 0 ? -errno : watch_fd(l->tx.watch, EPOLL_CTL_ADD, fd, EPOLLIN);
		if (rc < 0)
			zerr_set(err, rc, "cannot accept a connection: %s", strerror(-rc));
	}
	if (rc < 0) {
		free_link(l);
		return rc;
	}
	*out = &l->base;
	return 0;
}

static int take_offer(struct shm_link *l)
{
	int fds[SHM_OFFER_FDS];
	int rc = shm_socket_receive_offer(l->rx.sock, fds);
	if (rc <= 0)
		return rc;
	rc = shm_map_open(&l->map, fds[SHM_OFFER_MEMORY]);
	close(fds[SHM_OFFER_MEMORY]);
	if (rc < 0) {
		close(fds[SHM_OFFER_SOCKET]);
		return rc;
	}
	l->tx.sock = fds[SHM_OFFER_SOCKET];
	shm_producer_init(&l->tx.ring, &l->map, 1);
	shm_consumer_init(&l->rx.ring, &l->map, 0);
	shm_rma_try(l);
	/* The first socket is watched for its end only from now on. The second one is writable, which wakes a sender
	 * that sleeps already; its next post stops watching for that. */
	l->tx.watch_new = true;
	rc = watch_fd(l->tx.watch, EPOLL_CTL_MOD, l->rx.sock, 0);
	if (rc == 0)
		rc = watch_fd(l->tx.watch, EPOLL_CTL_ADD, l->tx.sock, EPOLLIN | EPOLLOUT);
	return rc < 0 ? -EPROTO : 1; /* what came is nothing that can be watched */
}

/* 1: the link is ready; 0: the offer has not come; else why it is broken. Either half may call it. */
static int join(struct shm_link *l)
{
	int state = atomic_load_explicit(&l->state, memory_order_acquire);
	if (state == LINK_WAITING && !atomic_flag_test_and_set_explicit(&l->joining, memory_order_acquire)) {
		state = atomic_load_explicit(&l->state, memory_order_relaxed);
		if (state == LINK_WAITING) {
			state = take_offer(l);
			atomic_store_explicit(&l->state, state, memory_order_release);
		}
		atomic_flag_clear_explicit(&l->joining, memory_order_release);
	}
	return state;
}

/* ---- waking ---- */

static void wake_peer(struct shm_link *l, int sock)
{
	/* A full socket holds bytes enough to wake it. */
	if (send(sock, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		atomic_store_explicit(&l->dead, true, memory_order_release);
}

/* Takes the bytes from the socket and looks for its end. */
static void look_at_socket(struct shm_link *l, int sock)
{
	char bytes[64];
	ssize_t n = recv(sock, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		atomic_store_explicit(&l->dead, true, memory_order_release);
}

static bool is_dead(struct shm_link *l)
{
	return atomic_load_explicit(&l->dead, memory_order_acquire);
}

/* ---- send half ---- */

static void publish(struct shm_link *l)
{
	if (shm_producer_publish(&l->tx.ring))
		wake_peer(l, l->tx.sock);
}

/* What is to be done at times only. 1: go on; else what post returns. */
static int attend_tx(struct shm_link *l)
{
	struct shm_tx *tx = &l->tx;
	if (tx->error)
		return tx->error;
	int rc = join(l);
	if (rc <= 0)
		return rc == 0 ? -EAGAIN : rc == -ESHUTDOWN ? -EPIPE : rc;
	if (tx->watch_new) {
		tx->watch_new = false;
		watch_fd(tx->watch, EPOLL_CTL_MOD, tx->sock, EPOLLIN);
	}
	if (tx->armed) {
		tx->armed = false;
		if (shm_producer_awake(&tx->ring))
			look_at_socket(l, tx->sock);
	}
	if (is_dead(l))
		return tx->error = -EPIPE;
	return 1;
}

/* No room: the peer must know of all there is, and be alive. */
static int refuse(struct shm_link *l, size_t need)
{
	struct shm_tx *tx = &l->tx;
	tx->need = need;
	publish(l);
	if (++tx->refused % LOOK_EVERY == 0)
		look_at_socket(l, tx->sock);
	if (is_dead(l))
		return tx->error = -EPIPE;
	return -EAGAIN;
}

static size_t ring_bytes(size_t len)
{
	return (ZWIRE_ENV_BYTES + len + SHM_RING_ALIGN - 1) & ~(SHM_RING_ALIGN - 1);
}

static int shm_post(struct zlink *base, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct shm_link *l = (struct shm_link *)base;
	struct shm_tx *tx = &l->tx;
	if (len > ZWIRE_MAX_PAYLOAD)
		return -EMSGSIZE;
	int rc = attend_tx(l);
	if (rc < 0)
		return rc;
	uint8_t *at;
	size_t bytes = ring_bytes(len);
	rc = shm_producer_reserve(&tx->ring, bytes, &at);
	if (rc < 0)
		return tx->error = rc;
	if (rc == 0)
		return refuse(l, bytes);
	memcpy(at, env, ZWIRE_ENV_BYTES);
	if (len)
		memcpy(at + ZWIRE_ENV_BYTES, payload, len);
	shm_producer_commit(&tx->ring, bytes);
	tx->need = 0;
	tx->refused = 0;
	if (tx->ring.tail - tx->ring.published >= PUBLISH_BYTES)
		publish(l);
	return 0;
}

static int shm_flush(struct zlink *base)
{
	struct shm_link *l = (struct shm_link *)base;
	int rc = attend_tx(l);
	if (rc < 0) /* before the offer has come nothing can be held back */
		return rc == -EAGAIN ? 0 : rc;
	if (l->tx.ring.tail != l->tx.ring.published)
		publish(l);
	return 0;
}

/* ---- receive half ---- */

static void release(struct shm_link *l)
{
	if (shm_consumer_release(&l->rx.ring))
		wake_peer(l, l->rx.sock);
}

/* Shows the next message: 1 taken, 0 none there, -EAGAIN refused, else the error that broke the link. */
static int deliver(struct shm_link *l, const struct zsink *sink)
{
	struct shm_rx *rx = &l->rx;
	const uint8_t *at;
	uint8_t raw[ZWIRE_ENV_BYTES]; /* a copy: the peer could change it after the check */
	struct zwire_env env;
	int rc = shm_consumer_peek(&rx->ring, ZWIRE_ENV_BYTES, &at);
	if (rc <= 0)
		return rc < 0 ? rx->error = rc : 0;
	memcpy(raw, at, sizeof(raw));
	rc = zwire_decode(&env, raw);
	if (rc < 0)
		return rx->error = rc;
	size_t bytes = ring_bytes(env.len);
	rc = shm_consumer_peek(&rx->ring, bytes, &at);
	if (rc <= 0) /* messages are published whole */
		return rx->error = -EPROTO;
	const void *payload = at + ZWIRE_ENV_BYTES;
	void *placed = sink->place && env.len ? sink->place(sink->ctx, &env) : NULL;
	if (placed)
		payload = memcpy(placed, payload, env.len);
	rc = sink->take(sink->ctx, &env, raw, payload);
	if (rc == -EAGAIN && !placed)
		return rc;
	if (rc < 0)
		return rx->error = rc == -EAGAIN ? -EINVAL : rc;
	shm_consumer_pop(&rx->ring, bytes);
	if (rx->ring.head - rx->ring.released >= RELEASE_BYTES)
		release(l);
	return 1;
}

/* After the peer's end: what is in the ring now is all that ever will be. */
static int end_of_peer(struct shm_link *l)
{
	struct shm_rx *rx = &l->rx;
	const uint8_t *at;
	int rc = shm_consumer_peek(&rx->ring, ZWIRE_ENV_BYTES, &at);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = shm_consumer_closed(&rx->ring) ? -ESHUTDOWN : -ECONNRESET;
	return rx->error = rc;
}

static int shm_poll(struct zlink *base, const struct zsink *sink, unsigned budget)
{
	struct shm_link *l = (struct shm_link *)base;
	struct shm_rx *rx = &l->rx;
	if (rx->error)
		return rx->error;
	int rc = join(l);
	if (rc <= 0)
		return rc < 0 ? rx->error = rc : 0;
	bool slept = rx->armed, woken = false;
	if (slept) {
		rx->armed = false;
		woken = shm_consumer_awake(&rx->ring);
	}
	unsigned n = 0;
	rc = 0;
	while (n < budget && (rc = deliver(l, sink)) > 0)
		n++;
	if (rx->ring.head != rx->ring.released)
		release(l);
	/* Woken without a message: the peer's end, or a byte that was late. */
	bool vain = n == 0 && rc == 0 && budget > 0;
	if (woken || (vain && (slept || ++rx->vain % LOOK_EVERY == 0)))
		look_at_socket(l, rx->sock);
	if (n == 0 && rc < 0)
		return rc;
	if (!vain) {
		rx->vain = 0;
		return (int)n;
	}
	return is_dead(l) ? end_of_peer(l) : 0;
}

/* ---- sleeping ---- */

static int shm_fd(const struct zlink *base, enum zlink_half half, uint32_t *events)
{
	const struct shm_link *l = (const struct shm_link *)base;
	*events = EPOLLIN;
	if (half == ZLINK_RX)
		return l->rx.sock;
	return l->tx.watch >= 0 ? l->tx.watch : l->tx.sock;
}

static int arm_rx(struct shm_link *l)
{
	struct shm_rx *rx = &l->rx;
	int rc = join(l);
	if (rx->error || rc < 0 || is_dead(l))
		return 1;
	if (rc == 0)
		return 0;
	if (rx->rma.outstanding)
		return 1;
	rx->armed = true;
	return !shm_consumer_sleep(&rx->ring);
}

static int arm_tx(struct shm_link *l)
{
	struct shm_tx *tx = &l->tx;
	int rc = attend_tx(l);
	if (rc < 0)
		return rc != -EAGAIN;
	if (tx->ring.tail != tx->ring.published)
		publish(l);
	if (tx->need == 0 || tx->rma.outstanding)
		return 1;
	tx->armed = true;
	return !shm_producer_sleep(&tx->ring, tx->need);
}

static int shm_arm(struct zlink *base, enum zlink_half half)
{
	struct shm_link *l = (struct shm_link *)base;
	return half == ZLINK_RX ? arm_rx(l) : arm_tx(l);
}

const struct ztransport ztransport_shm = {
	.name = "shm",
	.kind = ZADDR_SHM,
	.rma = &shm_rma_ops,
	.listen = shm_listen,
	.connect = shm_connect,
	.accept = shm_accept,
	.listener_fd = shm_listener_fd,
	.listener_addr = shm_listener_addr,
	.unlisten = shm_unlisten,
	.close = shm_close,
	.post = shm_post,
	.flush = shm_flush,
	.poll = shm_poll,
	.fd = shm_fd,
	.arm = shm_arm,
	.max_payload = ZWIRE_MAX_PAYLOAD,
	.inline_payload = SHM_RING_ALIGN, /* one cache line more */
};
