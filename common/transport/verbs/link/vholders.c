/* SPDX-License-Identifier: BSD-3-Clause */
/* Send halves that hold many buffers, see vholders.h. */
#include "common/transport/verbs/link/vholders.h"

#include <pthread.h>

#include "common/transport/verbs/link/vtx_queue.h"

void vholders_add(struct vlink *l)
{
	struct vpool *p = l->tx.pool;
	pthread_mutex_lock(&p->lock);
	l->tx.holds = true;
	l->tx.next_holder = p->holders;
	p->holders = l;
	pthread_mutex_unlock(&p->lock);
}

bool vholders_reap(struct vlink *l)
{
	struct vpool *p = l->tx.pool;
	pthread_mutex_lock(&p->lock);
	for (struct vlink **at = &p->holders; *at;) {
		struct vlink *other = *at;
		if (other != l && other->tx.held > VPOOL_OWN)
			vtx_queue_reap(other); /* its own thread finds out what has failed there */
		if (other->tx.held > VPOOL_OWN) {
			at = &other->tx.next_holder;
			continue;
		}
		*at = other->tx.next_holder;
		other->tx.holds = false;
	}
	pthread_mutex_unlock(&p->lock);
	return vtx_queue_may_have_buffer(&l->tx);
}

void vholders_del(struct vlink *l)
{
	struct vpool *p = l->tx.pool;
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	for (struct vlink **at = &p->holders; *at; at = &(*at)->tx.next_holder)
		if (*at == l) {
			*at = l->tx.next_holder;
			break;
		}
	pthread_mutex_unlock(&p->lock);
}
