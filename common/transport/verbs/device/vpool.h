/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered buffers of one size, shared by the halves of one thread on one device: a pool for sending, and one for
 * receiving, whose free buffers all lie in a shared receive queue.
 *
 * Every link owns VPOOL_OWN buffers (sends it may have under way, or credits it may have given) whatever the others
 * do. The rest is shared: a link may take beyond its own as much as it leaves free (A. K. Choudhury, E. L. Hahne,
 * "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998, with a factor of one), so one that is
 * alone has half of it, and many have little each, but none has nothing. That is of those who use it: credit that was
 * given and is not used cannot be had back, so it is given as it is used (credit.c). Memory grows by VPOOL_OWN per
 * link only.
 *
 * Threads: add_link and del_link are the set-up thread's. What they make, and what a closed link leaves, goes to the
 * owner over an atomic stack. Everything else is the owner's.
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
#define VPOOL_LINKS_STEP 8 /* buffers for so many links are made at a time, if there is memory for them */

struct vlink;

struct vpool {
	struct vhome home;
	struct vmemory *memory;	  /* of its endpoint */
	unsigned place;		  /* its device's there */
	struct ibv_srq *srq;	  /* NULL: for sending */
	uint32_t stride, buffers; /* buffers: the shared ones */
	/* the set-up thread's */
	_Atomic uint32_t links; /* now; the owner looks */
	uint32_t owned;		/* and how many there are buffers for */
	uint32_t links_max;	/* receiving: that the queue has room for */
	bool lacks;		/* receiving: a link that was the only one may have taken some along */
	/* the owner's */
	struct vbuf *free;
	uint32_t nfree;
	bool failed;	/* receives cannot be posted: credit that was given is for nothing */
	int32_t shared; /* of the shared ones, how many no link has */
	/* from others */
	_Atomic(struct vbuf *) back;
	_Atomic int32_t shared_back;
	/* sending: links that may hold more than their own (holders.c) */
	pthread_mutex_t lock;
	struct vlink *holders;
};

/* buffers: the shared ones. For receiving (links_max > 0) they are posted at once. */
int vpool_create(struct vpool **, const struct vhome *, struct vmemory *, unsigned place, uint32_t stride,
	uint32_t buffers, uint32_t links_max, struct zerr *);
void vpool_destroy(struct vpool *);

/* The limit of locked memory does not allow it. */
static inline bool vpool_is_limited(int rc)
{
	return rc == -ENOBUFS;
}

/* That, or there is no memory for something else, as the queues: there may be for less. */
static inline bool vpool_lacks_memory(int rc)
{
	return vpool_is_limited(rc) || rc == -ENOMEM || rc == -EAGAIN;
}

/* A link comes, and goes; what it leaves: a chain of buffers and its part of the shared ones. */
int vpool_add_link(struct vpool *, struct zerr *);
void vpool_del_link(struct vpool *, struct vbuf *chain, int32_t shared);

/* Takes in what others gave. */
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

/* Receiving: posts what is free. 0, or -EIO for ever: then all its links end. */
int vpool_repost(struct vpool *);

#endif
