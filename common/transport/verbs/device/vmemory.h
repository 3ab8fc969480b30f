/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of all registered buffers of one endpoint (vshare.h), on all its devices. The buffers have one size, and
 * each belongs to one pool (vpool.h) or to none. Where the endpoint's thread forwards, buffers of two pools change
 * places (vpass.h). So all memory is then registered with every device of the endpoint, as far as that is allowed.
 *
 * Memory in which no pool has a buffer any more is given back. Free buffers in memory where other pools have some are
 * for the next pool.
 *
 * Threads: the set-up thread, with two exceptions: any thread may call vmemory_key, and the owner of a buffer's pool
 * says which pool the buffer belongs to.
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
	uint32_t lkey; /* of its registration with its pool's device */
	struct vslab *slab;
	_Atomic(struct vpool *) pool; /* NULL: of none */
};

struct vslab {
	struct vslab *next;
	void *base;
	size_t bytes;
	uint32_t n, idle;				  /* number of buffers; number of buffers of no pool */
	_Atomic(struct ibv_mr *) region[VMEMORY_DOMAINS]; /* NULL: not registered with that device */
	struct vbuf buf[];
};

struct vdomain {	   /* a device of the endpoint, as far as memory is concerned */
	struct ibv_pd *pd; /* NULL: the place is free */
	const struct vdevice *dev;
};

struct vmemory {
	struct vslab *slabs;
	struct vdomain domain[VMEMORY_DOMAINS];
};

/* A device gets a place, and leaves it when none of its pools is left. Returns 0, or -ENOSPC with text. */
int vmemory_join(struct vmemory *, struct ibv_pd *, const struct vdevice *, unsigned *place, struct zerr *);
void vmemory_leave(struct vmemory *, unsigned place);

/* Takes n buffers for a pool of the device at this place, as a chain from *first to *last. Returns 0; -ENOBUFS: so much
 * memory may not be locked; or another errno. */
int vmemory_take(struct vmemory *, unsigned place, struct vpool *, uint32_t stride, uint32_t n, struct vbuf **first,
	struct vbuf **last, struct zerr *);
/* Takes back all buffers of a pool, which nobody uses any more. */
void vmemory_return(struct vmemory *, struct vpool *);

/* Registers all memory with all devices that are not lost. Returns 0, or a negative errno with text: some memory is not
 * registered; all of it can be used as before. */
int vmemory_spread(struct vmemory *, struct zerr *);

/* The key of a buffer for the device at this place. false: the memory is not registered with it. */
static inline bool vmemory_key(const struct vbuf *b, unsigned place, uint32_t *lkey)
{
	const struct ibv_mr *mr = atomic_load_explicit(&b->slab->region[place], memory_order_acquire);
	if (mr)
		*lkey = mr->lkey;
	return mr != NULL;
}

#endif
