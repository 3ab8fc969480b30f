/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes in both directions between two processes, without any protocol: a TCP socket, or two rings in shared memory.
 * They are the baseline for our transports. One thread. */
#ifndef ZIP_BENCH_BYTES_H
#define ZIP_BENCH_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/measure.h"
#include "common/transport/shm/shm_consumer.h"
#include "common/transport/shm/shm_producer.h"

#define BYTES_PIECE ((size_t)128 << 10) /* bytes that move at a time: zipperd's default fragment */

struct bytes {
	int rx_fd, tx_fd;
	bool shm;
	/* TCP: bytes that were read and not consumed. */
	uint8_t *buf;
	size_t head, tail;
	struct shm_producer out;
	struct shm_consumer in;
	bool rx_armed, tx_armed;
};

void bytes_open_tcp(struct bytes *, int fd);
/* Rings and sockets for both ends; made before the processes fork. side is 0 or 1. */
struct bytes_shm {
	struct shm_map map;
	int socks[2][2]; /* [ring][producer, consumer] */
};
void bytes_make_shm(struct bytes_shm *);
void bytes_open_shm(struct bytes *, const struct bytes_shm *, int side);

/* The number of bytes that are there, at *at; they are not consumed. 0: none; SIZE_MAX: the other end has closed. */
size_t bytes_peek(struct bytes *, const uint8_t **at);
void bytes_consume(struct bytes *, size_t len);
/* Returns the number of bytes that went. */
size_t bytes_write(struct bytes *, const uint8_t *at, size_t len);

void bytes_sleeper_rx(struct bytes *, struct sleeper *);
void bytes_sleeper_tx(struct bytes *, struct sleeper *);

#endif
