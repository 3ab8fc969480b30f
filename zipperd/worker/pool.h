/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for messages that wait for a full link, in size classes, cut from slabs. One pool per worker, used by its
 * thread alone; what all pools together may take is bounded by a budget that they share (an atomic counter that is
 * touched once per slab).
 */
#ifndef ZIPPERD_POOL_H
#define ZIPPERD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/list.h"
#include "common/wire/wire.h"

struct budget {
	_Atomic uint64_t used; /* bytes in slabs of all pools */
	uint64_t limit;
};

/* Up to where it is for everything; the rest is kept for what others wait behind (pool.last). */
static inline uint64_t budget_open(const struct budget *b)
{
	return b->limit - b->limit / 16;
}

struct slab;
struct worker;

struct buf {
	struct buf *next; /* the holder's */
	struct slab *slab;
	/* A message to several ranks: the payload lies in one buffer, the body, and each that waits holds a small one.
	 */
	struct buf *body;      /* NULL: its own */
	struct worker *home;   /* of a body: whose pool it is from */
	_Atomic uint32_t refs; /* of a body: who holds it, in any worker */
	uint32_t len;	       /* payload bytes, the holder's */
	uint8_t env[ZWIRE_ENV_BYTES];
	_Alignas(16) uint8_t payload[];
};

#define POOL_CLASSES 5
/* Payload of the smallest class: envelopes, and what zipperd remembers per refusal and per one-sided transfer. */
#define POOL_SMALL_BYTES 192

struct pool_class {
	uint32_t payload; /* largest payload; 0: class not in use */
	size_t stride;	  /* bytes from buffer to buffer */
	uint32_t per_slab;
	struct list partial;  /* slabs with something free */
	uint32_t empty_slabs; /* of them, wholly free; at most one is kept */
};

struct pool {
	struct budget *budget;
	bool last; /* what is asked for now may use the budget up */
	struct pool_class cls[POOL_CLASSES];
};

/* eager and frag: largest payloads of EAGER and DATA. 0 or -ENOMEM. */
int pool_init(struct pool *, struct budget *, uint32_t eager, uint32_t frag);
/* Every buffer must be back. */
void pool_fini(struct pool *);
/* A buffer for a payload of len bytes (at most the largest class), or NULL: the budget or memory is used up. */
struct buf *pool_get(struct pool *, uint32_t len);
void pool_put(struct pool *, struct buf *);

#endif
