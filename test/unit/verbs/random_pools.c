/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the buffers of an endpoint are when its links have gone. */
#include "test/fakeverbs/objects.h"
#include "test/unit/verbs/random_parts.h"

static void count(struct vbuf *b, const struct vpool *p, uint32_t *n)
{
	if (atomic_load(&b->pool) != p)
		random_fail("a pool has a buffer that is not its own");
	if (b->lkey == 0)
		random_fail("a buffer is there twice");
	b->lkey = 0;
	++*n;
}

/* The buffers in the shared receive queue. */
static void count_posted(const struct vpool *p, uint32_t *n)
{
	struct fake_fabric *f = fake_fabric();
	const struct fake_rq *rq = fake_ptr(f, ((const struct fsrq *)p->srq)->at);
	const struct fake_rwqe *ring = fake_ptr(f, rq->ring);
	for (uint32_t i = rq->head; i != rq->tail; i++)
		count((struct vbuf *)(uintptr_t)ring[i % rq->size].wr_id, p, n);
}

static void check(struct vpool *p, const char *which)
{
	uint32_t n = 0, all = p->buffers + p->owned * VPOOL_OWN;
	for (struct vbuf *b = p->free; b; b = b->next)
		count(b, p, &n);
	for (struct vbuf *b = atomic_load(&p->back); b; b = b->next)
		count(b, p, &n);
	if (p->srq)
		count_posted(p, &n);
	if (n != all)
		random_fail("%u of %u buffers for %s are left", n, all, which);
	if (p->shared + atomic_load(&p->shared_back) != (int32_t)p->buffers)
		random_fail("%d of %u shared buffers for %s are nobody's",
			(int)p->shared + atomic_load(&p->shared_back), p->buffers, which);
	if (p->links != 0 || p->holders)
		random_fail("a pool for %s has links, or some that hold its buffers", which);
}

void pools_check(const struct zendpoint *e)
{
	for (const struct vshare *s = e->shares; s; s = s->next) {
		if (vdevice_is_lost(s->home.dev))
			continue;
		if (s->halves > 0 || atomic_load(&s->regions) > 0)
			random_fail("%u halves and %u regions are left at an endpoint", s->halves,
				atomic_load(&s->regions));
		if (s->rx)
			check(s->rx, "receiving");
		if (s->tx)
			check(s->tx, "sending");
	}
}
