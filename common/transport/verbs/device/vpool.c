/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered buffers, see vpool.h. */
#include "common/transport/verbs/device/vpool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/device/vlife.h"

#define REPOST_MAX 32 /* receives handed to the device at a time */

/* 0 or a negative errno. */
static int post_free(struct vpool *p)
{
	struct ibv_recv_wr wr[REPOST_MAX], *bad;
	struct ibv_sge sge[REPOST_MAX];
	while (p->free) {
		int n = 0;
		struct vbuf *b = p->free;
		for (; b && n < REPOST_MAX; n++, b = b->next) {
			sge[n] = (struct ibv_sge){.addr = (uintptr_t)b->data, .length = p->stride, .lkey = b->lkey};
			wr[n] = (struct ibv_recv_wr){.wr_id = (uintptr_t)b, .sg_list = &sge[n], .num_sge = 1};
			if (n > 0)
				wr[n - 1].next = &wr[n];
		}
		const int code = ibv_post_srq_recv(p->srq, wr, &bad);
		if (code != 0) {
			for (; p->free != (struct vbuf *)(uintptr_t)bad->wr_id; p->nfree--)
				p->free = p->free->next;
			return -code;
		}
		p->free = b;
		p->nfree -= (uint32_t)n;
	}
	return 0;
}

static int add(struct vpool *p, uint32_t n, struct vbuf **first, struct vbuf **last, struct zerr *err)
{
	return vmemory_take(p->memory, p->place, p, p->stride, n, first, last, err);
}

int vpool_create(struct vpool **out, const struct vhome *home, struct vmemory *memory, unsigned place, uint32_t stride,
	uint32_t buffers, uint32_t links_max, struct zerr *err)
{
	struct vpool *p = calloc(1, sizeof(*p));
	struct vbuf *last;
	if (!p)
		return zerr_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&p->lock, NULL);
	p->home = *home;
	p->memory = memory;
	p->place = place;
	p->stride = (stride + 63) & ~63u;
	int rc = 0;
	if (links_max > 0) {
		/* the pool must not promise more than the queue has room for; some providers (hns, bnxt_re) refuse the
		 * largest size that they tell */
		const uint32_t room = (uint32_t)home->dev->attr.max_srq_wr - 1;
		buffers = buffers < room / 2 ? buffers : room / 2;
		p->links_max = (room - buffers) / VPOOL_OWN;
		p->links_max = p->links_max < links_max ? p->links_max : links_max;
		rc = vobject_srq_create(&p->srq, home, buffers + VPOOL_OWN * p->links_max, err);
	}
	if (rc == 0)
		rc = add(p, buffers, &p->free, &last, err);
	if (rc == 0) {
		p->nfree = p->buffers = buffers;
		p->shared = (int32_t)buffers;
		rc = p->srq ? post_free(p) : 0;
		if (rc < 0)
			rc = zerr_set(err, -EIO, "%s: cannot post receives: %s", home->dev->name, strerror(-rc));
	}
	if (rc < 0) {
		vpool_destroy(p);
		return rc;
	}
	*out = p;
	return 0;
}

void vpool_destroy(struct vpool *p)
{
	if (!p)
		return;
	if (p->srq)
		ibv_destroy_srq(p->srq);
	vmemory_return(p->memory, p);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void give_back(struct vpool *p, struct vbuf *first, struct vbuf *last)
{
	struct vbuf *old = atomic_load_explicit(&p->back, memory_order_relaxed);
	do
		last->next = old;
	while (!atomic_compare_exchange_weak_explicit(&p->back, &old, first, memory_order_release,
		memory_order_relaxed));
}

int vpool_add_link(struct vpool *p, struct zerr *err)
{
	struct vbuf *first, *last = NULL;
	if (p->links == p->owned) {
		if (p->srq && p->owned + VPOOL_LINKS_STEP > p->links_max)
			return zerr_set(err, -ENOSPC, "%s: more than %u connections for one thread", p->home.dev->name,
				p->links_max);
		uint32_t links = VPOOL_LINKS_STEP;
		int rc = add(p, links * VPOOL_OWN, &first, &last, err);
		if (vpool_lacks_memory(rc) && (p->owned > 0 || p->buffers / 2 < VPOOL_LEAST))
			rc = add(p, (links = 1) * VPOOL_OWN, &first, &last, err);
		if (rc < 0)
			return rc;
		p->owned += links;
		give_back(p, first, last);
	}
	p->links++;
	return 0;
}

void vpool_del_link(struct vpool *p, struct vbuf *chain, int32_t shared)
{
	p->links--;
	if (chain) {
		struct vbuf *last = chain;
		while (last->next)
			last = last->next;
		give_back(p, chain, last);
	}
	atomic_fetch_add_explicit(&p->shared_back, shared, memory_order_release);
}

void vpool_collect_slowly(struct vpool *p)
{
	/* first, as the buffers that it counts are in the chain before it grows */
	p->shared += atomic_exchange_explicit(&p->shared_back, 0, memory_order_acquire);
	struct vbuf *b = atomic_exchange_explicit(&p->back, NULL, memory_order_acquire);
	while (b) {
		struct vbuf *next = b->next;
		vpool_put(p, b);
		b = next;
	}
	if (p->srq)
		vpool_repost(p);
}

int vpool_repost(struct vpool *p)
{
	const int rc = p->failed ? -EIO : post_free(p);
	if (rc == 0 || p->failed)
		return rc;
	p->failed = true;
	vlife_fail_receives(p->home.dev, p->srq, -rc);
	return -EIO;
}
