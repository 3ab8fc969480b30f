/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send halves that hold more buffers than they own. Their sends may be complete and nobody have looked, as a link that
 * has gone quiet is not asked again: whoever finds none left looks for all of them. They are halves of one thread, the
 * pool's owner; but where one ends, which another thread does, it leaves first. Hence the lock, which is not taken
 * while there are buffers.
 */
#include "common/transport/verbs/link.h"

void vtx_hold(struct vlink *l)
{
	struct vpool *p = l->tx.pool;
	pthread_mutex_lock(&p->lock);
	l->tx.holds = true;
	l->tx.next_holder = p->holders;
	p->holders = l;
	pthread_mutex_unlock(&p->lock);
}

bool vtx_reap_holders(struct vlink *l)
{
	struct vpool *p = l->tx.pool;
	pthread_mutex_lock(&p->lock);
	for (struct vlink **at = &p->holders; *at;) {
		struct vlink *other = *at;
		if (other != l && other->tx.held > VPOOL_OWN)
			vtx_reap(other); /* what has failed there, it finds out */
		if (other->tx.held > VPOOL_OWN) {
			at = &other->tx.next_holder;
			continue;
		}
		*at = other->tx.next_holder;
		other->tx.holds = false;
	}
	pthread_mutex_unlock(&p->lock);
	return vtx_may_have_buffer(&l->tx);
}

void vtx_leave_holders(struct vlink *l)
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
