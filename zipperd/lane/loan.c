/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that come back from other workers, see loan.h. */
#include "zipperd/lane/loan.h"

#include <sys/eventfd.h>

#include "zipperd/lane/fanout.h"
#include "zipperd/lane/worker.h"

void loan_return(struct worker *w, struct piece *p)
{
	p->fanout->out--;
	w->lent--;
	staging_put(&w->staging, p);
}

void loan_put(struct worker *w, struct piece *p)
{
	if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (p->home == w) {
		loan_return(w, p);
		return;
	}
	/* The owner takes the whole list at once, as body_collect does. It waits for pieces to read on: wake it. */
	struct worker *home = p->home;
	_Atomic(struct piece *) *head = &home->ports->pieces;
	p->next = atomic_load_explicit(head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(head, &p->next, p, memory_order_release, memory_order_relaxed))
		;
	eventfd_write(home->wake_fd, 1);
}

bool loan_collect(struct worker *w)
{
	if (!atomic_load_explicit(&w->ports->pieces, memory_order_relaxed))
		return false;
	struct piece *p = atomic_exchange_explicit(&w->ports->pieces, NULL, memory_order_acquire);
	while (p) {
		struct piece *next = p->next;
		loan_return(w, p);
		p = next;
	}
	return true;
}
