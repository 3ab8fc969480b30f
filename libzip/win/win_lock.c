/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of windows at both ends. See win_lock.h. */
#include "libzip/win/win_lock.h"

#include <stdlib.h>

#include "libzip/progress/progress.h"
#include "libzip/world/error.h"
#include "libzip/win/win_message.h"

struct zwin_waiter {
	struct zwin_waiter *next;
	struct zwin_peer *peer;
	int type;
};

/* --- as a target --- */

static void grant(struct zwin *w, struct zwin_peer *p, int type)
{
	p->holds = type;
	w->holders++;
	w->exclusive = type == MPI_LOCK_EXCLUSIVE;
	if (zwin_message_tell(w, p, ZWIN_GRANT, 0, 0) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for a window's lock");
}

static void serve(struct zwin *w)
{
	struct zwin_waiter *first;

	while ((first = w->waiters) && !w->exclusive && (w->holders == 0 || first->type == MPI_LOCK_SHARED)) {
		w->waiters = first->next;
		if (!w->waiters)
			w->last_waiter = NULL;
		grant(w, first->peer, first->type);
		free(first);
	}
}

void zwin_lock_asked(struct zwin *w, struct zwin_peer *p, int type)
{
	struct zwin_waiter *last = malloc(sizeof(*last));

	if (!last)
		zerror_fatal(1, "no memory for a window's locks");
	*last = (struct zwin_waiter){.peer = p, .type = type};
	if (w->last_waiter)
		w->last_waiter->next = last;
	else
		w->waiters = last;
	w->last_waiter = last;
	serve(w);
}

void zwin_lock_returned(struct zwin *w, struct zwin_peer *p)
{
	if (p->holds == 0)
		zerror_fatal(1, "rank %d has unlocked a window that it has not locked", p->rank);
	p->holds = 0;
	w->holders--;
	w->exclusive = false;
	serve(w);
}

/* --- as an origin --- */

static bool held(void *arg)
{
	const struct zwin_peer *p = arg;

	return p->lock != ZWIN_ASKED;
}

static void await_lock(struct zwin_peer *p)
{
	if (p->lock == ZWIN_ASKED)
		zprogress_wait(held, p);
}

static bool is_self(const struct zwin *w, const struct zwin_peer *p)
{
	return p->rank == w->comm->rank;
}

static int say_ask(struct zwin *w, struct zwin_peer *p, int type)
{
	if (!is_self(w, p))
		return zwin_message_tell(w, p, ZWIN_ASK_LOCK, type == MPI_LOCK_EXCLUSIVE ? ZWIN_EXCLUSIVE : ZWIN_SHARED,
			0);
	zwin_lock_asked(w, p, type);
	return MPI_SUCCESS;
}

int zwin_lock_give_back(struct zwin *w, struct zwin_peer *p)
{
	if (!is_self(w, p))
		return zwin_message_tell(w, p, ZWIN_UNLOCK, 0, 0);
	zwin_lock_returned(w, p);
	return MPI_SUCCESS;
}

int zwin_lock_ask(struct zwin *w, struct zwin_peer *p, int type, bool unchecked, const char *name)
{
	zwin_touch(w, p);
	p->lock = unchecked ? ZWIN_UNCHECKED : ZWIN_ASKED;
	if (unchecked)
		return MPI_SUCCESS;
	int rc = say_ask(w, p, type);
	if (rc != MPI_SUCCESS) {
		p->lock = ZWIN_FREE;
		return zwin_raise(w, rc, name, "no memory to lock rank %d", p->rank);
	}
	await_lock(p);
	return MPI_SUCCESS;
}

int zwin_lock_may_access(struct zwin *w, int target, const char *name, struct zwin_peer **peer)
{
	int rc = MPI_SUCCESS;
	struct zwin_peer *p = *peer = zwin_get_peer(w, target, name, &rc);

	if (!p)
		return rc;
	if (w->access == ZWIN_LOCK_ALL && p->lock == ZWIN_FREE)
		rc = zwin_lock_ask(w, p, MPI_LOCK_SHARED, w->unchecked, name);
	if (rc != MPI_SUCCESS)
		return rc;
	if (w->access == ZWIN_NO_EPOCH || (w->access == ZWIN_START && !p->started) ||
		(w->access == ZWIN_LOCK && p->lock == ZWIN_FREE))
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "rank %d is not accessible in this epoch", target);
	await_lock(p); /* another thread may have asked for it */
	return MPI_SUCCESS;
}
