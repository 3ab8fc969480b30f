/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of memory through which a worker carries one-sided transfers: one block, allocated with the first link
 * that has one-sided operations. The block belongs to the worker's thread. The control thread frees it when that thread
 * has ended. A piece for several receivers (fanout.h) is lent to other workers, which write from it and count it back
 * (loan.h).
 */
#ifndef ZIPPERD_STAGING_H
#define ZIPPERD_STAGING_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/transport/base/transport.h"
#include "zipperd/memory/pool.h"
#include "zipperd/memory/registered.h"

#define STAGING_PIECES_MIN 2 /* one comes in while the other goes out */

struct transfer;
struct fanout;
struct piece;

/* A piece on its way out to one receiver. */
struct carry {
	struct carry *next; /* in tx.waiting */
	struct transfer *transfer;
	struct piece *piece;
	struct buf *buf; /* the memory of this struct; NULL: piece->carry, for a piece with one receiver */
	bool shared;	 /* the piece was read for another receiver as well */
};
_Static_assert(sizeof(struct carry) <= POOL_SMALL_BYTES, "carries live in the smallest buffers");

struct piece {
	struct piece *next; /* in the free list, in fanout.head, or in worker_ports.pieces */
	uint8_t *data;
	uint32_t len;
	uint64_t offset; /* in the message */
	struct carry carry;
	struct worker *home;   /* the owner of the staging memory */
	struct fanout *fanout; /* the fan-out that it was read for; NULL: carry.transfer */
	_Atomic uint32_t refs; /* with a fan-out: users in all workers that are not done with it */
	_Atomic bool held;     /* a device that cannot be stopped may touch it at any time: it is not used again */
};

struct staging {
	struct budget *budget;
	uint64_t wanted_bytes; /* 0: no one-sided transfers */
	uint32_t piece_bytes;
	struct registered block; /* memory NULL: not allocated yet */
	struct worker *owner;
	struct piece *piece, *free;
	uint32_t npieces, nfree;
	uint32_t returned; /* number of pieces put back so far */
	bool stuck;	   /* a receiver has waited for a piece in vain, and none has come back since */
	bool said;	   /* the log says so, once */
	bool held;	   /* a piece is held: the block stays for ever */
	int error;	   /* allocation failed: not tried again */
};

/* A receiver that has waited this long for a first piece, while no piece came back at all, goes on without. The pieces
 * may belong to transfers with a host that does not answer, and its links try for seconds. */
#define STAGING_PATIENCE_MS 200

struct staging_wait {	   /* for a first piece */
	int64_t since_ms;  /* 0: not waiting */
	uint32_t returned; /* staging.returned at that time */
};

/* bytes: upper bound; the budget may give less. piece_bytes 0: the fragment size of the first link's transport. */
void staging_init(struct staging *, struct worker *owner, struct budget *, uint64_t bytes, uint32_t piece_bytes);
/* Every piece must be back. */
void staging_fini(struct staging *);
/* A half of a link joins. *region is what its operations on pieces need. Returns 0; -EOPNOTSUPP: the link has no
 * one-sided operations, or none are wanted; -ENOMEM and other errors, with text the first time. */
int staging_join(struct staging *, struct zlink *, enum zlink_half, struct zregion **region, struct zerr *);
/* A half leaves and has no more operations. region: what it got; NULL: it did not join. */
void staging_leave(struct staging *, const struct zlink *, enum zlink_half, const struct zregion *region);
/* NULL: all pieces are in use. The piece that was put back last comes first, as it may still be in the cache. */
struct piece *staging_get(struct staging *);
void staging_put(struct staging *, struct piece *);
/* Called when no piece is free and a receiver without any wants one. true: it has waited too long. receiver: its
 * link's other end, for the log. */
bool staging_is_overdue(struct staging *, struct staging_wait *, const char *receiver);

#endif
