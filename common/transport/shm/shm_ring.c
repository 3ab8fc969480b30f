/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings in shared memory, see shm_ring.h.
 *
 * Sleeping: who wants to sleep sets its flag and looks once more at the other's position; who moves its position
 * looks at the other's flag afterwards. All four accesses are sequentially consistent, so at least one of the two
 * sees the other. The flag is taken by exchange: each sleep costs at most one byte.
 */
#include "common/transport/shm/shm_ring.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/transport/shm/shm_memory.h"

/* Two cache lines: processors fetch them in pairs. */
#define APART 128

struct shm_ring_ctl {
	alignas(APART) _Atomic uint64_t tail; /* the producer writes */
	_Atomic uint32_t closed;
	alignas(APART) _Atomic uint64_t head; /* the consumer writes */
	alignas(APART) _Atomic uint32_t consumer_sleeps;
	alignas(APART) _Atomic uint32_t producer_sleeps;
};

/* Locks inside a process would not work between two. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "atomics without locks are needed");

/* In the file: the control blocks and the probe, then the data of ring 0, then of ring 1. */
#define FILE_BYTES (SHM_CTL_BYTES + 2 * SHM_RING_BYTES)
#define MAP_BYTES (SHM_CTL_BYTES + 4 * SHM_RING_BYTES)
/* A producer that waits is woken when half of the ring is free: not for every few bytes. What the consumer leaves
 * when it has caught up is all of it, so nobody waits for ever. */
#define WAKE_FREE_BYTES (SHM_RING_BYTES / 2)

static int map_at(uint8_t *at, size_t len, int fd, size_t offset)
{
	void *p = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
	return p == MAP_FAILED ? -errno : 0;
}

static int map_file(struct shm_map *m, int fd)
{
	uint8_t *base = mmap(NULL, MAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	int rc = map_at(base, SHM_CTL_BYTES, fd, 0);
	for (size_t i = 0; i < 4 && rc == 0; i++)
		rc = map_at(base + SHM_CTL_BYTES + i * SHM_RING_BYTES, SHM_RING_BYTES, fd,
			SHM_CTL_BYTES + i / 2 * SHM_RING_BYTES);
	if (rc < 0) {
		munmap(base, MAP_BYTES);
		return rc;
	}
	m->base = base;
	m->probe = (struct shm_probe *)(void *)((struct shm_ring_ctl *)base + 2);
	for (size_t i = 0; i < 2; i++) {
		m->ctl[i] = (struct shm_ring_ctl *)base + i;
		m->data[i] = base + SHM_CTL_BYTES + 2 * i * SHM_RING_BYTES;
	}
	return 0;
}

int shm_map_create(struct shm_map *m, struct zerr *err)
{
	int fd = shm_memory_create("zipper-link", FILE_BYTES, err);
	if (fd < 0)
		return fd;
	int rc = map_file(m, fd);
	if (rc < 0) {
		close(fd);
		return zerr_set(err, rc, "cannot make shared memory: %s", strerror(-rc));
	}
	/* Until a consumer has looked for the first time it counts as sleeping: see the handshake. */
	for (int i = 0; i < 2; i++)
		atomic_init(&m->ctl[i]->consumer_sleeps, 1);
	return fd;
}

int shm_map_open(struct shm_map *m, int fd)
{
	int rc = shm_memory_check(fd, FILE_BYTES);
	if (rc == 0)
		rc = map_file(m, fd);
	return rc == -EPERM || rc == -EACCES ? -EPROTO : rc; /* sealed against writing, or opened for reading */
}

void shm_map_close(struct shm_map *m)
{
	if (m->base)
		munmap(m->base, MAP_BYTES);
	m->base = NULL;
}

void shm_producer_init(struct shm_producer *p, const struct shm_map *m, int ring)
{
	*p = (struct shm_producer){.ctl = m->ctl[ring], .data = m->data[ring]};
}

void shm_consumer_init(struct shm_consumer *c, const struct shm_map *m, int ring)
{
	*c = (struct shm_consumer){.ctl = m->ctl[ring], .data = m->data[ring]};
}

static inline uint64_t at_offset(uint64_t position)
{
	return position & (SHM_RING_BYTES - 1);
}

/* ---- producer ---- */

/* Takes over the consumer's position: 0, or -EPROTO. */
static int see_head(struct shm_producer *p, memory_order order)
{
	uint64_t head = atomic_load_explicit(&p->ctl->head, order);
	if (p->published - head > p->published - p->head || head % SHM_RING_ALIGN)
		return -EPROTO; /* went backwards, or beyond what was published */
	p->head = head;
	return 0;
}

int shm_producer_reserve(struct shm_producer *p, size_t len, uint8_t **at)
{
	if (SHM_RING_BYTES - (p->tail - p->head) < len) {
		int rc = see_head(p, memory_order_acquire);
		if (rc < 0)
			return rc;
		if (SHM_RING_BYTES - (p->tail - p->head) < len)
			return 0;
	}
	*at = p->data + at_offset(p->tail);
	return 1;
}

void shm_producer_commit(struct shm_producer *p, size_t len)
{
	p->tail += len;
}

bool shm_producer_publish(struct shm_producer *p)
{
	p->published = p->tail;
	atomic_store_explicit(&p->ctl->tail, p->tail, memory_order_seq_cst);
	return atomic_load_explicit(&p->ctl->consumer_sleeps, memory_order_seq_cst) != 0 &&
	       atomic_exchange_explicit(&p->ctl->consumer_sleeps, 0, memory_order_seq_cst) != 0;
}

bool shm_producer_sleep(struct shm_producer *p, size_t len)
{
	atomic_store_explicit(&p->ctl->producer_sleeps, 1, memory_order_seq_cst);
	return see_head(p, memory_order_seq_cst) == 0 && SHM_RING_BYTES - (p->tail - p->head) < len;
}

bool shm_producer_awake(struct shm_producer *p)
{
	return atomic_exchange_explicit(&p->ctl->producer_sleeps, 0, memory_order_seq_cst) == 0;
}

void shm_producer_close(struct shm_producer *p)
{
	atomic_store_explicit(&p->ctl->closed, 1, memory_order_release);
}

/* ---- consumer ---- */

static int see_tail(struct shm_consumer *c, memory_order order)
{
	uint64_t tail = atomic_load_explicit(&c->ctl->tail, order);
	if (tail - c->head > SHM_RING_BYTES || tail - c->head < c->tail - c->head || tail % SHM_RING_ALIGN)
		return -EPROTO; /* more than the ring holds, or went backwards */
	c->tail = tail;
	return 0;
}

int shm_consumer_peek(struct shm_consumer *c, size_t len, const uint8_t **at)
{
	if (c->tail - c->head < len) {
		int rc = see_tail(c, memory_order_acquire);
		if (rc < 0)
			return rc;
		if (c->tail - c->head < len)
			return 0;
	}
	*at = c->data + at_offset(c->head);
	return 1;
}

void shm_consumer_pop(struct shm_consumer *c, size_t len)
{
	c->head += len;
}

bool shm_consumer_release(struct shm_consumer *c)
{
	c->released = c->head;
	atomic_store_explicit(&c->ctl->head, c->head, memory_order_seq_cst);
	return atomic_load_explicit(&c->ctl->producer_sleeps, memory_order_seq_cst) != 0 &&
	       SHM_RING_BYTES - (c->tail - c->head) >= WAKE_FREE_BYTES &&
	       atomic_exchange_explicit(&c->ctl->producer_sleeps, 0, memory_order_seq_cst) != 0;
}

bool shm_consumer_sleep(struct shm_consumer *c)
{
	atomic_store_explicit(&c->ctl->consumer_sleeps, 1, memory_order_seq_cst);
	return see_tail(c, memory_order_seq_cst) == 0 && c->tail == c->head;
}

bool shm_consumer_awake(struct shm_consumer *c)
{
	return atomic_exchange_explicit(&c->ctl->consumer_sleeps, 0, memory_order_seq_cst) == 0;
}

bool shm_consumer_closed(const struct shm_consumer *c)
{
	return atomic_load_explicit(&c->ctl->closed, memory_order_acquire) != 0;
}
