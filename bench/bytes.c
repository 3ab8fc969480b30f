/* SPDX-License-Identifier: BSD-3-Clause */
/* See bytes.h. */
#include "bench/bytes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/copy.h"

void bytes_open_tcp(struct bytes *b, int fd)
{
	memset(b, 0, sizeof(*b));
	b->rx_fd = b->tx_fd = fd;
	b->buf = malloc(BYTES_PIECE);
	if (!b->buf)
		measure_die("out of memory");
}

void bytes_make_shm(struct bytes_shm *s)
{
	struct zerr err;
	int fd = shm_map_create(&s->map, &err);
	if (fd < 0)
		measure_die("%s", err.text);
	close(fd);
	for (int ring = 0; ring < 2; ring++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s->socks[ring]) < 0)
			measure_die("socketpair: %s", strerror(errno));
}

void bytes_open_shm(struct bytes *b, const struct bytes_shm *s, int side)
{
	memset(b, 0, sizeof(*b));
	b->shm = true;
	b->tx_fd = s->socks[side][0];
	b->rx_fd = s->socks[!side][1];
	close(s->socks[side][1]);
	close(s->socks[!side][0]);
	shm_producer_init(&b->out, &s->map, side);
	shm_consumer_init(&b->in, &s->map, !side);
}

/* True: the other end has closed. */
static bool drain(int fd)
{
	char junk[64];
	return recv(fd, junk, sizeof(junk), MSG_DONTWAIT) == 0;
}

static void wake(int fd)
{
	send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static size_t peek_shm(struct bytes *b, const uint8_t **at)
{
	bool ended = false;
	if (b->rx_armed) {
		b->rx_armed = false;
		shm_consumer_awake(&b->in);
		ended = drain(b->rx_fd);
	}
	int rc = shm_consumer_peek(&b->in, SHM_RING_ALIGN, at);
	if (rc < 0)
		measure_die("the ring is damaged");
	if (rc == 0)
		return ended ? SIZE_MAX : 0;
	size_t there = (size_t)(b->in.tail - b->in.head);
	return there < BYTES_PIECE ? there : BYTES_PIECE;
}

size_t bytes_peek(struct bytes *b, const uint8_t **at)
{
	if (b->shm)
		return peek_shm(b, at);
	if (b->head == b->tail) {
		ssize_t n = recv(b->rx_fd, b->buf, BYTES_PIECE, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return SIZE_MAX;
		b->head = 0;
		b->tail = n > 0 ? (size_t)n : 0;
	}
	*at = b->buf + b->head;
	return b->tail - b->head;
}

void bytes_consume(struct bytes *b, size_t len)
{
	if (!b->shm) {
		b->head += len;
		return;
	}
	shm_consumer_pop(&b->in, (len + SHM_RING_ALIGN - 1) & ~(SHM_RING_ALIGN - 1));
	if (shm_consumer_release(&b->in))
		wake(b->rx_fd);
}

/* Positions in a ring are multiples of the alignment: 8 bytes occupy 64, as in any ring whose writers keep off each
 * other's cache lines. */
static size_t write_shm(struct bytes *b, const uint8_t *at, size_t len)
{
	if (b->tx_armed) {
		b->tx_armed = false;
		shm_producer_awake(&b->out);
		drain(b->tx_fd);
	}
	uint8_t *to;
	size_t piece = len < BYTES_PIECE ? len : BYTES_PIECE;
	size_t room = (piece + SHM_RING_ALIGN - 1) & ~(SHM_RING_ALIGN - 1);
	int rc = shm_producer_reserve(&b->out, room, &to);
	if (rc < 0)
		measure_die("the ring is damaged");
	if (rc == 0)
		return 0;
	zcopy(to, at, piece);
	shm_producer_commit(&b->out, room);
	if (shm_producer_publish(&b->out))
		wake(b->tx_fd);
	return piece;
}

size_t bytes_write(struct bytes *b, const uint8_t *at, size_t len)
{
	if (b->shm)
		return write_shm(b, at, len);
	ssize_t n = send(b->tx_fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		measure_die("send: %s", strerror(errno));
	return n < 0 ? 0 : (size_t)n;
}

static bool arm_rx(void *half)
{
	struct bytes *b = half;
	if (!b->shm)
		return true;
	b->rx_armed = true;
	return shm_consumer_sleep(&b->in);
}

static bool arm_tx(void *half)
{
	struct bytes *b = half;
	if (!b->shm)
		return true;
	b->tx_armed = true;
	return shm_producer_sleep(&b->out, BYTES_PIECE);
}

void bytes_sleeper_rx(struct bytes *b, struct sleeper *s)
{
	*s = (struct sleeper){b->rx_fd, POLLIN, arm_rx, b};
}

void bytes_sleeper_tx(struct bytes *b, struct sleeper *s)
{
	*s = (struct sleeper){b->tx_fd, b->shm ? POLLIN : POLLOUT, arm_tx, b};
}
