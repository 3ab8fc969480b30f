/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of memory through which a worker carries one-sided transfers: one block, allocated with the first link
 * that can. Belongs to the worker's thread; the control thread frees it when that has ended. A piece for several
 * receivers (fanout.h) is lent to other workers, which write from it, and give it back by counting.
 */
#ifndef ZIPPERD_STAGING_H
#define ZIPPERD_STAGING_H

#include <stdatomic.h>
#include <stdint.h>

#include "zipperd/worker/pool.h"
#include "zipperd/worker/registered.h"
#include "common/transport/base/transport.h"

#define STAGING_PIECES_MIN 2 /* one comes in while the other goes out */

struct transfer;
struct fanout;
struct piece;

/* A piece on its way out to one receiver. */
struct carry {
	struct carry *next; /* in tx.waiting */
	struct transfer *transfer;
	struct piece *piece;
	struct buf *buf; /* the memory it lies in; NULL: the piece itself, which goes to one receiver only */
	bool shared;	 /* another receiver's came in with it */
};
_Static_assert(sizeof(struct carry) <= POOL_SMALL_BYTES, "carries live in the smallest buffers");

struct piece {
	struct piece *next; /* in the free list; or of those that a fan-out has to hand out, or has got back */
	uint8_t *data;
	uint32_t len;
	uint64_t offset; /* in the message */
	struct carry carry;
	struct worker *home;   /* whose staging it is from */
	struct fanout *fanout; /* that it was read for; NULL: for carry.transfer */
	_Atomic uint32_t refs; /* with a fan-out: who is not done with it, in any worker */
	_Atomic bool held;     /* a device that could not be stopped may touch it at any time: it is not used again */
};

struct staging {
	struct budget *budget;
	uint64_t wanted_bytes; /* 0: no one-sided transfers */
	uint32_t piece_bytes;
	struct registered block; /* memory NULL: not allocated yet */
	struct worker *owner;
	struct piece *piece, *free;
	uint32_t npieces, nfree;
	uint32_t returned; /* pieces so far */
	bool stuck;	   /* somebody has waited for one in vain, and none has come back since */
	bool said;	   /* so, once */
	bool held;	   /* a piece is: the block stays for ever */
	int error;	   /* it could not be allocated: not tried again */
};

/* Who has waited so long for a first piece, while none came back at all, goes on without: what others have may hang on
 * a host that does not answer, for as long as its link tries, which is seconds. */
#define STAGING_PATIENCE_MS 200

struct staging_wait {	   /* for a first piece */
	int64_t since_ms;  /* 0: not yet */
	uint32_t returned; /* staging.returned then */
};

/* bytes: what it may take in all, less if the budget does not give it. piece_bytes 0: as the first link's transport
 * likes fragments. */
void staging_init(struct staging *, struct worker *owner, struct budget *, uint64_t bytes, uint32_t piece_bytes);
/* Every piece must be back. */
void staging_fini(struct staging *);
/* A half of a link joins: *region is what its operations on pieces need. 0; -EOPNOTSUPP: it has no one-sided
 * operations, or none are wanted; -ENOMEM and others: with text, the first time. */
int staging_admit(struct staging *, struct zlink *, enum zlink_half, struct zregion **region, struct zerr *);
/* A half leaves, with what it got if it was admitted, and has no more operations. NULL: it was not. */
void staging_leave(struct staging *, const struct zlink *, enum zlink_half, const struct zregion *region);
/* NULL: all are in use. The one that was put back last comes first: it may still be in the cache. */
struct piece *staging_get(struct staging *);
void staging_put(struct staging *, struct piece *);
/* There is none, and somebody wants one who has none. Has he waited too long? To whom it would have gone: for the log.
 */
bool staging_is_overdue(struct staging *, struct staging_wait *, const char *peer);

#endif
