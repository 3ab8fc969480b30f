/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer of a ring, see shm_producer.h. */
#include "common/transport/shm/shm_producer.h"

#include <errno.h>

void shm_producer_init(struct shm_producer *p, const struct shm_map *m, int ring)
{
	*p = (struct shm_producer){.ctl = m->ctl[ring], .data = m->data[ring]};
}

/* Takes over the consumer's position. Returns 0 or -EPROTO. */
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
	*at = p->data + shm_ring_offset(p->tail);
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
