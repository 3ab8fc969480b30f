/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of memory through which a worker carries one-sided transfers: one block, allocated with the first link
 * that can, registered once with each device that it is used with. Belongs to the worker's thread; the control thread
 * frees it when that has ended.
 */
#ifndef ZIPPERD_STAGING_H
#define ZIPPERD_STAGING_H

#include <stdint.h>

#include "pool.h"
#include "transport.h"

#define STAGING_DOMAINS 16   /* of devices, per worker */
#define STAGING_PIECES_MIN 2 /* one comes in while the other goes out */

struct transfer;

struct piece {
	struct piece *next; /* in the free list, or in tx.waiting */
	struct transfer *transfer;
	uint8_t *data;
	uint32_t len;
	uint64_t offset; /* in the message */
};

struct staging_domain {
	const void *domain;
	struct zregion *region;
	void (*unreg)(struct zregion *);
	bool (*is_lost)(const struct zregion *);
	uint32_t halves; /* of links that are there */
	int error;	 /* it could not be registered: not tried again */
};

struct staging {
	struct budget *budget;
	uint64_t wanted_bytes; /* 0: no one-sided transfers */
	uint32_t piece_bytes;
	uint8_t *memory; /* NULL: not allocated yet */
	uint64_t bytes;
	struct piece *piece, *free;
	uint32_t npieces, nfree;
	struct staging_domain domain[STAGING_DOMAINS];
	uint32_t ndomains;
};

/* bytes: what it may take in all, less if the budget does not give it. piece_bytes 0: as the first link's transport
 * likes fragments. */
void staging_init(struct staging *, struct budget *, uint64_t bytes, uint32_t piece_bytes);
/* Every piece must be back. */
void staging_fini(struct staging *);
/* A half of a link joins: *region is what its operations on pieces need. 0; -EOPNOTSUPP: it has no one-sided
 * operations, or none are wanted; -ENOMEM and others: with text, once per device. */
int staging_admit(struct staging *, struct zlink *, enum zlink_half, struct zregion **region, struct zerr *);
/* One that was admitted, with what it got, has no more operations. NULL: none was. */
void staging_leave(struct staging *, const struct zregion *region);
/* NULL: all are in use. The one that was put back last comes first: it may still be in the cache. */
struct piece *staging_get(struct staging *);
void staging_put(struct staging *, struct piece *);

#endif
