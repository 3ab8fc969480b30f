/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered buffers of one size, which the halves of one thread share on one device. There is a pool for sending, and
 * a pool for receiving, whose free buffers all lie in a shared receive queue.
 *
 * Every link owns VPOOL_OWN buffers (sends that it may have under way, or credits that it may have given), whatever
 * other links do. The other buffers are shared: a link may take as many of them as it leaves free (A. K. Choudhury, E.
 * L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998, with a factor of one). So a
 * single link has half of them, and many links have few each, but none has nothing. This counts links that use their
 * buffers: credit that was given and is not used cannot be taken back, so it is given as it is used (vcredit.c). Memory
 * only grows by VPOOL_OWN per link.
 *
 * Threads: add_link and del_link are the set-up thread's. Buffers that they make, and that a closed link leaves, go to
 * the owner over an atomic stack. Everything else is the owner's.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_POOL_H
#define ZIP_COMMON_TRANSPORT_VERBS_POOL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/transport/verbs/device/vmemory.h"
#include "common/transport/verbs/device/vobject.h"

#define VPOOL_OWN 4
#define VPOOL_LEAST 16	   /* shared buffers */
#define VPOOL_LINKS_STEP 8 /* links for which buffers are made at a time, if there is memory for them */

struct vlink;

struct vpool {
	struct vhome home;
	struct vmemory *memory;	  /* of its endpoint */
	unsigned place;		  /* the place of its device there */
	struct ibv_srq *srq;	  /* NULL: for sending */
	uint32_t stride, buffers; /* buffers: the number of shared ones */
	/* the set-up thread's */
	_Atomic uint32_t links; /* at this time; the owner reads it */
	uint32_t owned;		/* the number of links that there are buffers for */
	uint32_t links_max;	/* receiving: links that the queue has room for */
	bool lacks;		/* receiving: a link that was the only one may have taken buffers along */
	/* the owner's */
	struct vbuf *free;
	uint32_t nfree;
	bool failed;	/* receives cannot be posted: credit that was given is void */
	int32_t shared; /* the number of shared buffers that no link has */
	/* from other threads */
	_Atomic(struct vbuf *) back;
	_Atomic int32_t shared_back;
	/* sending: links that may hold more than their own (vholders.c) */
	pthread_mutex_t lock;
	struct vlink *holders;
};

/* buffers: the number of shared ones. For receiving (links_max > 0) they are posted at once. */
int vpool_create(struct vpool **, const struct vhome *, struct vmemory *, unsigned place, uint32_t stride,
	uint32_t buffers, uint32_t links_max, struct zerr *);
void vpool_destroy(struct vpool *);

/* Does the limit of locked memory not allow it? */
static inline bool vpool_is_limited(int rc)
{
	return rc == -ENOBUFS;
}

/* Is that the reason, or does memory lack for something else, as for queues? There may be memory for less. */
static inline bool vpool_lacks_memory(int rc)
{
	return vpool_is_limited(rc) || rc == -ENOMEM || rc == -EAGAIN;
}

/* A link comes, and goes. A link that goes leaves a chain of buffers and its part of the shared ones. */
int vpool_add_link(struct vpool *, struct zerr *);
void vpool_del_link(struct vpool *, struct vbuf *chain, int32_t shared);

/* Takes in the buffers that other threads gave. */
void vpool_collect_slowly(struct vpool *);
static inline void vpool_collect(struct vpool *p)
{
	if (atomic_load_explicit(&p->back, memory_order_relaxed) ||
		atomic_load_explicit(&p->shared_back, memory_order_relaxed))
		vpool_collect_slowly(p);
}

static inline void vpool_put(struct vpool *p, struct vbuf *b)
{
	b->next = p->free;
	p->free = b;
	p->nfree++;
}

static inline struct vbuf *vpool_get(struct vpool *p)
{
	struct vbuf *b = p->free;
	if (b) {
		p->free = b->next;
		p->nfree--;
	}
	return b;
}

/* Receiving: posts the free buffers. Returns 0, or -EIO for ever; then all links of the pool end. */
int vpool_repost(struct vpool *);

#endif
