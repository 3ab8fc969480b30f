/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer of a ring (shm_ring.h). Its thread. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_PRODUCER_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/transport/shm/shm_map.h"

struct shm_producer {
	struct shm_ring_ctl *ctl;
	uint8_t *data;
	uint64_t tail;	    /* end of the bytes that were written */
	uint64_t published; /* end of the bytes that the consumer may know of */
	uint64_t head;	    /* the consumer's position as last seen */
};

void shm_producer_init(struct shm_producer *, const struct shm_map *, int ring);

/* Looks for room for len bytes (a multiple of the alignment, at most the ring), at *at. Returns 1 (there is room), 0
 * (not now), or -EPROTO. */
int shm_producer_reserve(struct shm_producer *, size_t len, uint8_t **at);
void shm_producer_commit(struct shm_producer *, size_t len);
/* Makes the committed bytes visible. true: the consumer sleeps and must be woken by a byte on its socket. */
bool shm_producer_publish(struct shm_producer *);
/* The producer is about to sleep until there is room for len bytes. true: sleep, a byte will come; false: do not sleep,
 * there is room (or nonsense) now. */
bool shm_producer_sleep(struct shm_producer *, size_t len);
/* The producer does not sleep any more. true: a byte was sent, or will be sent any moment. */
bool shm_producer_awake(struct shm_producer *);
/* Tells the consumer that the end is intended. */
void shm_producer_close(struct shm_producer *);

#endif
