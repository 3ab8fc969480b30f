/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for messages that wait for a full link, in size classes, cut from slabs. Every worker has one pool, which its
 * thread alone uses. All pools share a budget, an atomic counter that a pool touches once per slab.
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
	_Atomic uint64_t used; /* bytes in slabs of all pools, in staging memory, and in messages that streams hold */
	_Atomic uint64_t promised; /* to streams with large windows (zipperd/lane/stream.h): at most half of limit */
	uint64_t limit;
};

/* The share of the budget, in bytes, that any request may use. Only requests that others wait behind get the rest
 * (pool.last). */
static inline uint64_t budget_open(const struct budget *b)
{
	return b->limit - b->limit / 16;
}

struct slab;
struct worker;

struct buf {
	struct buf *next; /* in the holder's list */
	struct slab *slab;
	/* A message to several ranks has its payload in one buffer, the body (body.h). Each receiver that waits holds a
	 * small buffer which points to the body. */
	struct buf *body;      /* NULL: the payload is in this buffer */
	struct worker *home;   /* of a body: the worker whose pool it is from */
	_Atomic uint32_t refs; /* of a body: the number of its holders, in all workers */
	uint32_t len;	       /* payload bytes, set by the holder */
	uint8_t env[ZWIRE_ENV_BYTES];
	_Alignas(16) uint8_t payload[];
};

#define POOL_CLASSES 5
/* Payload of the smallest class: an envelope, or a record of a refusal or of a one-sided transfer. */
#define POOL_SMALL_BYTES 192

struct pool_class {
	uint32_t payload; /* largest payload in bytes; 0: the class is not in use */
	size_t stride;	  /* bytes from buffer to buffer */
	uint32_t per_slab;
	struct list partial;  /* slabs with a free buffer */
	uint32_t empty_slabs; /* slabs of partial that are wholly free; at most one is kept */
};

struct pool {
	struct budget *budget;
	bool last; /* the requests of this moment may use up the whole budget */
	struct pool_class cls[POOL_CLASSES];
};

/* eager and frag: largest payloads of EAGER and DATA, in bytes. 0 or -ENOMEM. */
int pool_init(struct pool *, struct budget *, uint32_t eager, uint32_t frag);
/* Every buffer must be back. */
void pool_fini(struct pool *);
/* A buffer for a payload of len bytes, at most the largest class. NULL: the budget or the memory is used up. */
struct buf *pool_get(struct pool *, uint32_t len);
void pool_put(struct pool *, struct buf *);

#endif
