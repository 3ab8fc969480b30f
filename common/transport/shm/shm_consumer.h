/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer of a ring (shm_ring.h). Its thread. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_CONSUMER_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/transport/shm/shm_map.h"

struct shm_consumer {
	struct shm_ring_ctl *ctl;
	const uint8_t *data;
	uint64_t head;	   /* end of the bytes that were consumed */
	uint64_t released; /* end of the bytes whose space the producer may use again */
	uint64_t tail;	   /* the producer's position as last seen */
};

void shm_consumer_init(struct shm_consumer *, const struct shm_map *, int ring);

/* Looks for at least len bytes, at *at. Returns 1 (they are there), 0 (not yet), or -EPROTO. */
int shm_consumer_peek(struct shm_consumer *, size_t len, const uint8_t **at);
void shm_consumer_pop(struct shm_consumer *, size_t len);
/* Gives the space of the popped bytes back to the producer. true: the producer sleeps and must be woken. */
bool shm_consumer_release(struct shm_consumer *);
/* As of the producer; false: there are bytes now. */
bool shm_consumer_sleep(struct shm_consumer *);
bool shm_consumer_awake(struct shm_consumer *);
/* Has the producer told that the end is intended? */
bool shm_consumer_closed(const struct shm_consumer *);

#endif
