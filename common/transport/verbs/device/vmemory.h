/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of all registered buffers of one endpoint (share.h), on whatever devices it has them. They are of one
 * size, and each belongs to one pool (pool.h) or to none. Where the endpoint's thread forwards, buffers of two pools
 * change places (pass.h): so all memory is then registered with every device of the endpoint, as far as that is
 * allowed.
 *
 * Memory in which no pool has a buffer any more is given back. What is left of a pool in memory where others have some
 * is for the next pool.
 *
 * Threads: the set-up thread's, but for vmemory_key, and which pool a buffer is of: that is its pool's owner's.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_MEMORY_H
#define ZIP_COMMON_TRANSPORT_VERBS_MEMORY_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/transport/verbs/device/vdevice.h"

#define VMEMORY_DOMAINS 16 /* devices of an endpoint at a time */

struct vpool;
struct vslab;

struct vbuf {
	struct vbuf *next;
	uint8_t *data; /* stride bytes, on a cache line */
	uint32_t lkey; /* with its pool's device */
	struct vslab *slab;
	_Atomic(struct vpool *) pool; /* NULL: of none */
};

struct vslab {
	struct vslab *next;
	void *base;
	size_t bytes;
	uint32_t n, idle;				  /* buffers; those of no pool */
	_Atomic(struct ibv_mr *) region[VMEMORY_DOMAINS]; /* NULL: not registered with it */
	struct vbuf buf[];
};

struct vdomain {	   /* a device of the endpoint, as memory is concerned */
	struct ibv_pd *pd; /* NULL: none has this place */
	const struct vdevice *dev;
};

struct vmemory {
	struct vslab *slabs;
	struct vdomain domain[VMEMORY_DOMAINS];
};

/* A device comes, and gets a place; and goes, when none of its pools is left. 0, or -ENOSPC with text. */
int vmemory_join(struct vmemory *, struct ibv_pd *, const struct vdevice *, unsigned *place, struct zerr *);
void vmemory_leave(struct vmemory *, unsigned place);

/* n buffers for a pool of the device at this place: a chain from *first to *last. 0; -ENOBUFS: so much memory may not
 * be locked; others. */
int vmemory_take(struct vmemory *, unsigned place, struct vpool *, uint32_t stride, uint32_t n, struct vbuf **first,
	struct vbuf **last, struct zerr *);
/* All buffers of a pool, which nobody uses any more. */
void vmemory_return(struct vmemory *, struct vpool *);

/* Registers all memory with all devices that are not lost. 0, or why some is not, with text: it is as good as before.
 */
int vmemory_spread(struct vmemory *, struct zerr *);

/* For a pool of the device at this place. false: this memory is not registered with it. */
static inline bool vmemory_key(const struct vbuf *b, unsigned place, uint32_t *lkey)
{
	const struct ibv_mr *mr = atomic_load_explicit(&b->slab->region[place], memory_order_acquire);
	if (mr)
		*lkey = mr->lkey;
	return mr != NULL;
}

#endif
