/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer of a ring, see shm_consumer.h. */
#include "common/transport/shm/shm_consumer.h"

#include <errno.h>

/* A producer that waits is woken when half of the ring is free, not for every few bytes. A consumer that has caught up
 * leaves the whole ring free, so nobody waits for ever. */
#define WAKE_FREE_BYTES (SHM_RING_BYTES / 2)

void shm_consumer_init(struct shm_consumer *c, const struct shm_map *m, int ring)
{
	*c = (struct shm_consumer){.ctl = m->ctl[ring], .data = m->data[ring]};
}

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
	*at = c->data + shm_ring_offset(c->head);
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
