/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two byte rings in memory shared by two processes, one for each way. Inner header of the shm transport.
 *
 * A ring has one producer and one consumer. Positions count bytes since the beginning and are multiples of
 * SHM_RING_ALIGN. The data are mapped twice in a row, so that everything in them is contiguous. Each side keeps its
 * own position to itself and only publishes it; what it reads of the other side's is checked before use: a peer that
 * writes nonsense there gets -EPROTO, and can reach nothing but this memory.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_RING_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Power of two, multiple of every page size, more than the largest message. Memory only as far as it is used. */
#define SHM_RING_BYTES ((size_t)2 << 20)
#define SHM_RING_ALIGN ((size_t)64)

struct shm_ring_ctl; /* the shared positions and flags of one ring */

/* Where the connecting side lets the accepting side try one-sided access (shm_rma.h). */
struct shm_probe {
	uint64_t address; /* of a word of the connecting process */
	uint64_t value;	  /* of that word */
};

/* Both rings as one process sees them: [0] goes from the connecting side to the accepting side. */
struct shm_map {
	void *base;
	struct shm_ring_ctl *ctl[2];
	struct shm_probe *probe;
	uint8_t *data[2];
};

/* Makes sealed memory and maps it: its descriptor (the caller's, to be passed on), or a negative errno with text. */
int shm_map_create(struct shm_map *, struct zerr *);
/* Maps memory that a peer made; fd stays the caller's. -EPROTO: its size or seals are not those of create. */
int shm_map_open(struct shm_map *, int fd);
void shm_map_close(struct shm_map *);

struct shm_producer {
	struct shm_ring_ctl *ctl;
	uint8_t *data;
	uint64_t tail;	    /* end of what was written */
	uint64_t published; /* end of what the consumer may know of */
	uint64_t head;	    /* the consumer's position as last seen */
};

struct shm_consumer {
	struct shm_ring_ctl *ctl;
	const uint8_t *data;
	uint64_t head;	   /* end of what was consumed */
	uint64_t released; /* end of what the producer may know of */
	uint64_t tail;	   /* the producer's position as last seen */
};

void shm_producer_init(struct shm_producer *, const struct shm_map *, int ring);
void shm_consumer_init(struct shm_consumer *, const struct shm_map *, int ring);

/* Room for len bytes (a multiple of the alignment, at most the ring) at *at: 1 yes, 0 not now, -EPROTO. */
int shm_producer_reserve(struct shm_producer *, size_t len, uint8_t **at);
void shm_producer_commit(struct shm_producer *, size_t len);
/* Makes what was committed visible. True: the consumer sleeps and must be woken by a byte on its socket. */
bool shm_producer_publish(struct shm_producer *);
/* About to sleep until there is room for len bytes: true: go on, a byte will come; false: there is room (or nonsense)
 * now. */
bool shm_producer_sleep(struct shm_producer *, size_t len);
/* Not sleeping any more. True: a byte was sent, or will be any moment. */
bool shm_producer_awake(struct shm_producer *);
/* Tells the consumer that the end was meant. */
void shm_producer_close(struct shm_producer *);

/* At least len bytes are there, at *at: 1 yes, 0 not yet, -EPROTO. */
int shm_consumer_peek(struct shm_consumer *, size_t len, const uint8_t **at);
void shm_consumer_pop(struct shm_consumer *, size_t len);
/* Gives what was popped back to the producer. True: it sleeps and must be woken. */
bool shm_consumer_release(struct shm_consumer *);
/* As for the producer; false: there are bytes now. */
bool shm_consumer_sleep(struct shm_consumer *);
bool shm_consumer_awake(struct shm_consumer *);
bool shm_consumer_closed(const struct shm_consumer *);

#endif
