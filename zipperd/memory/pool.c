/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers in size classes, see pool.h. A pool keeps one empty slab per class and frees the others, so that other
 * workers can have the memory of a burst afterwards. While memory is short it keeps none, as many idle workers together
 * might keep all of it. It always keeps a slab of the smallest class. */
#include "zipperd/memory/pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES (256u << 10) /* a slab is about this large, but holds at least one buffer */
#define PAGE_BYTES 4096

struct slab {
	struct list link; /* in partial, while a buffer is free */
	struct pool_class *cls;
	struct buf *free;
	uint32_t nfree;
};

static size_t slab_size(const struct pool_class *c)
{
	size_t head = (sizeof(struct slab) + 63) & ~(size_t)63;
	return head + c->stride * c->per_slab;
}

static struct slab *slab_create(struct pool *p, struct pool_class *c, uint64_t limit)
{
	size_t size = slab_size(c);
	uint64_t used = atomic_fetch_add_explicit(&p->budget->used, size, memory_order_relaxed);
	struct slab *s = used + size <= limit ? aligned_alloc(64, (size + 63) & ~(size_t)63) : NULL;
	if (!s) {
		atomic_fetch_sub_explicit(&p->budget->used, size, memory_order_relaxed);
		return NULL;
	}
	memset(s, 0, sizeof(*s));
	s->cls = c;
	char *at = (char *)s + ((sizeof(struct slab) + 63) & ~(size_t)63);
	for (uint32_t i = 0; i < c->per_slab; i++, at += c->stride) {
		struct buf *b = (struct buf *)(void *)at;
		b->slab = s;
		b->next = s->free;
		s->free = b;
	}
	s->nfree = c->per_slab;
	list_add(&c->partial, &s->link);
	c->empty_slabs++;
	return s;
}

static void slab_destroy(struct pool *p, struct slab *s)
{
	list_del(&s->link);
	s->cls->empty_slabs--;
	atomic_fetch_sub_explicit(&p->budget->used, slab_size(s->cls), memory_order_relaxed);
	free(s);
}

int pool_init(struct pool *p, struct budget *budget, uint32_t eager, uint32_t frag)
{
	/* frag / 2, as some transports have smaller fragments than others */
	const uint32_t payload[POOL_CLASSES] = {POOL_SMALL_BYTES, PAGE_BYTES, eager, frag / 2, frag};
	uint32_t largest = 0;
	memset(p, 0, sizeof(*p));
	p->budget = budget;
	for (int i = 0; i < POOL_CLASSES; i++) {
		struct pool_class *c = &p->cls[i];
		list_init(&c->partial);
		if (payload[i] <= largest)
			continue;
		largest = c->payload = payload[i];
		c->stride = (sizeof(struct buf) + payload[i] + 63) & ~(size_t)63;
		c->per_slab = c->stride < SLAB_BYTES ? (uint32_t)(SLAB_BYTES / c->stride) : 1;
	}
	/* Refusals need the smallest class, and keep all other use bounded: have a slab of it from the start. */
	return slab_create(p, &p->cls[0], budget->limit) ? 0 : -ENOMEM;
}

void pool_fini(struct pool *p)
{
	for (int i = 0; i < POOL_CLASSES; i++)
		while (p->cls[i].payload && !list_empty(&p->cls[i].partial)) {
			struct slab *s = list_entry(p->cls[i].partial.next, struct slab, link);
			assert(s->nfree == p->cls[i].per_slab);
			slab_destroy(p, s);
		}
}

struct buf *pool_get(struct pool *p, uint32_t len)
{
	struct pool_class *c = p->cls;
	while (c->payload < len)
		if (++c == p->cls + POOL_CLASSES)
			return NULL;
	struct slab *s;
	if (!list_empty(&c->partial))
		s = list_entry(c->partial.next, struct slab, link);
	else if (!(s = slab_create(p, c, p->last ? p->budget->limit : budget_open(p->budget))))
		return NULL;
	struct buf *b = s->free;
	s->free = b->next;
	if (s->nfree-- == c->per_slab)
		c->empty_slabs--;
	if (s->nfree == 0)
		list_del(&s->link);
	b->next = b->body = NULL;
	return b;
}

static bool may_keep(const struct pool *p, const struct pool_class *c)
{
	const struct budget *budget = p->budget;
	return c->empty_slabs == 0 &&
	       (c == p->cls || atomic_load_explicit(&budget->used, memory_order_relaxed) <= budget->limit / 2);
}

void pool_put(struct pool *p, struct buf *b)
{
	struct slab *s = b->slab;
	struct pool_class *c = s->cls;
	b->next = s->free;
	s->free = b;
	if (s->nfree++ == 0)
		list_add(&c->partial, &s->link);
	if (s->nfree < c->per_slab)
		return;
	const bool keep = may_keep(p, c);
	c->empty_slabs++;
	if (!keep)
		slab_destroy(p, s);
}
