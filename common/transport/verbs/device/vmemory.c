/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of registered buffers, see vmemory.h. It lies in mappings of its own, so that nothing else shares a page with
 * it. */
#include "common/transport/verbs/device/vmemory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int vmemory_join(struct vmemory *m, struct ibv_pd *pd, const struct vdevice *dev, unsigned *place, struct zerr *err)
{
	for (unsigned i = 0; i < VMEMORY_DOMAINS; i++)
		if (!m->domain[i].pd) {
			m->domain[i] = (struct vdomain){pd, dev};
			*place = i;
			return 0;
		}
	return zerr_set(err, -ENOSPC, "%s: more than %d devices for one thread", dev->name, VMEMORY_DOMAINS);
}

void vmemory_leave(struct vmemory *m, unsigned place)
{
	for (struct vslab *s = m->slabs; s; s = s->next) {
		struct ibv_mr *mr = atomic_exchange(&s->region[place], NULL);
		if (mr)
			ibv_dereg_mr(mr);
	}
	m->domain[place] = (struct vdomain){NULL, NULL};
}

static int register_with(struct vmemory *m, struct vslab *s, unsigned place, struct zerr *err)
{
	const struct vdomain *d = &m->domain[place];
	zep_ibv_ask();
	struct ibv_mr *mr = ibv_reg_mr(d->pd, s->base, s->bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!mr) {
		const int code = zep_ibv_refusal();
		return zerr_set(err, code == ENOMEM || code == EAGAIN ? -ENOBUFS : -code,
			"%s: cannot register %zu KiB of buffers: %s (see ulimit -l)", d->dev->name, s->bytes / 1024,
			strerror(code));
	}
	atomic_store_explicit(&s->region[place], mr, memory_order_release);
	return 0;
}

static void destroy(struct vslab *s)
{
	for (unsigned i = 0; i < VMEMORY_DOMAINS; i++) {
		struct ibv_mr *mr = atomic_load_explicit(&s->region[i], memory_order_relaxed);
		if (mr)
			ibv_dereg_mr(mr);
	}
	munmap(s->base, s->bytes);
	free(s);
}

/* Makes n buffers that belong to no pool. NULL with *rc and text. */
static struct vslab *create(struct vmemory *m, unsigned place, uint32_t stride, uint32_t n, int *rc, struct zerr *err)
{
	struct vslab *s = calloc(1, sizeof(*s) + n * sizeof(s->buf[0]));
	if (!s) {
		*rc = zerr_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	s->n = s->idle = n;
	s->bytes = ((size_t)n * stride + 4095) & ~(size_t)4095;
	s->base = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->base == MAP_FAILED) {
		const int code = errno;
		free(s);
		*rc = zerr_set(err, -code, "no memory for %u buffers: %s", n, strerror(code));
		return NULL;
	}
	*rc = register_with(m, s, place, err);
	if (*rc < 0) {
		destroy(s);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		s->buf[i].data = (uint8_t *)s->base + (size_t)i * stride;
		s->buf[i].slab = s;
	}
	return s;
}

struct chain {
	struct vbuf *first, *last;
	uint32_t n;
};

/* Takes free buffers of this memory, up to the wanted number. */
static void take_from(struct vslab *s, unsigned place, struct vpool *p, uint32_t wanted, struct chain *c)
{
	for (uint32_t i = 0; i < s->n && s->idle > 0 && c->n < wanted; i++) {
		struct vbuf *b = &s->buf[i];
		if (atomic_load_explicit(&b->pool, memory_order_relaxed) || !vmemory_key(b, place, &b->lkey))
			continue;
		atomic_store_explicit(&b->pool, p, memory_order_relaxed);
		s->idle--;
		b->next = c->first;
		c->first = b;
		c->last = c->last ? c->last : b;
		c->n++;
	}
}

static void leave_pool(struct vbuf *b)
{
	atomic_store_explicit(&b->pool, NULL, memory_order_relaxed);
	b->slab->idle++;
}

int vmemory_take(struct vmemory *m, unsigned place, struct vpool *p, uint32_t stride, uint32_t n, struct vbuf **first,
	struct vbuf **last, struct zerr *err)
{
	struct chain c = {NULL, NULL, 0};
	int rc = 0;
	for (struct vslab *s = m->slabs; s && c.n < n; s = s->next)
		take_from(s, place, p, n, &c);
	if (c.n < n) {
		struct vslab *s = create(m, place, stride, n - c.n, &rc, err);
		if (s) {
			s->next = m->slabs;
			m->slabs = s;
			take_from(s, place, p, n, &c);
		}
	}
	if (rc < 0) {
		for (struct vbuf *b = c.first; b; b = b->next)
			leave_pool(b);
		return rc;
	}
	*first = c.first;
	*last = c.last;
	return 0;
}

void vmemory_return(struct vmemory *m, struct vpool *p)
{
	struct vslab **at = &m->slabs;
	while (*at) {
		struct vslab *s = *at;
		for (uint32_t i = 0; i < s->n; i++)
			if (atomic_load_explicit(&s->buf[i].pool, memory_order_relaxed) == p)
				leave_pool(&s->buf[i]);
		if (s->idle < s->n) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		destroy(s);
	}
}

int vmemory_spread(struct vmemory *m, struct zerr *err)
{
	for (struct vslab *s = m->slabs; s; s = s->next)
		for (unsigned i = 0; i < VMEMORY_DOMAINS; i++) {
			const struct vdomain *d = &m->domain[i];
			if (!d->pd || vdevice_is_lost(d->dev) ||
				atomic_load_explicit(&s->region[i], memory_order_relaxed))
				continue;
			int rc = register_with(m, s, i, err);
			if (rc < 0)
				return rc;
		}
	return 0;
}
