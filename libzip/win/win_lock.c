/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of windows (MPI-4.0 section 12.5.3), at both ends. Each rank gives its own in the order in which it was asked:
 * so nobody starves, and an exclusive one that waits holds up shared ones that come later. MPI_Win_lock waits for it:
 * programs that lock several ranks, all in the same order, count on having the first one when they ask for the second.
 */
#include <stdlib.h>

#include "libzip/bridge/bridge.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_parts.h"

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
	if (zwin_tell(w, p, ZWIN_GRANT, 0, 0) != MPI_SUCCESS)
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

int zwin_lock_asked(struct zwin *w, struct zwin_peer *p, int type)
{
	struct zwin_waiter *last = malloc(sizeof(*last));

	if (!last)
		return MPI_ERR_NO_MEM;
	*last = (struct zwin_waiter){.peer = p, .type = type};
	if (w->last_waiter)
		w->last_waiter->next = last;
	else
		w->waiters = last;
	w->last_waiter = last;
	serve(w);
	return MPI_SUCCESS;
}

void zwin_unlocked(struct zwin *w, struct zwin_peer *p)
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

static int ask(struct zwin *w, struct zwin_peer *p, int type, bool unchecked, const char *name)
{
	zwin_touch(w, p);
	p->lock = unchecked ? ZWIN_UNCHECKED : ZWIN_ASKED;
	if (unchecked)
		return MPI_SUCCESS;
	int rc = zwin_tell(w, p, ZWIN_ASK_LOCK, (uint32_t)type, 0);
	if (rc != MPI_SUCCESS) {
		p->lock = ZWIN_FREE;
		return zwin_raise(w, rc, name, "no memory to lock rank %d", p->rank);
	}
	await_lock(p);
	return MPI_SUCCESS;
}

int zwin_may_access(struct zwin *w, int target, const char *name, struct zwin_peer **peer)
{
	int rc = MPI_SUCCESS;
	struct zwin_peer *p = *peer = zwin_get_peer(w, target, name, &rc);

	if (!p)
		return rc;
	if (w->access == ZWIN_LOCK_ALL && p->lock == ZWIN_FREE)
		rc = ask(w, p, MPI_LOCK_SHARED, w->unchecked, name);
	if (rc != MPI_SUCCESS)
		return rc;
	if (w->access == ZWIN_NO_EPOCH || (w->access == ZWIN_START && !p->started) ||
		(w->access == ZWIN_LOCK && p->lock == ZWIN_FREE))
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "rank %d is not accessible in this epoch", target);
	await_lock(p); /* that another thread has asked for */
	return MPI_SUCCESS;
}

/* --- the functions --- */

int zip_Win_lock(int lock_type, int rank, int assertion, MPI_Win win)
{
	static const char name[] = "MPI_Win_lock";
	struct zwin *w = zwin_find(win);
	int rc;

	if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
		return zwin_raise(w, MPI_ERR_ARG, name, "lock type is %d", lock_type); /* the class that MPICH has */
	rc = zwin_check_assert(w, assertion, MPI_MODE_NOCHECK, name);
	if (rc == MPI_SUCCESS)
		rc = zwin_check_rank(w, rank, name);
	if (rc == MPI_SUCCESS && w->access != ZWIN_LOCK)
		rc = zwin_check_idle(w, name);
	if (rc != MPI_SUCCESS || rank == MPI_PROC_NULL)
		return rc;
	struct zwin_peer *p = zwin_get_peer(w, rank, name, &rc);
	if (!p)
		return rc;
	if (p->lock != ZWIN_FREE)
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "rank %d is locked already", rank);
	rc = ask(w, p, lock_type, assertion & MPI_MODE_NOCHECK, name);
	if (rc != MPI_SUCCESS)
		return rc;
	w->access = ZWIN_LOCK;
	w->locked++;
	return MPI_SUCCESS;
}

int zip_Win_unlock(int rank, MPI_Win win)
{
	static const char name[] = "MPI_Win_unlock";
	struct zwin *w = zwin_find(win);

	int rc = zwin_check_rank(w, rank, name);
	if (rc != MPI_SUCCESS || rank == MPI_PROC_NULL)
		return rc;
	struct zwin_peer *p = w->peer[rank];
	if (w->access != ZWIN_LOCK || !p || p->lock == ZWIN_FREE)
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "rank %d is not locked", rank);
	rc = zwin_complete(w, p, true, name);
	if (--w->locked == 0)
		w->access = ZWIN_NO_EPOCH;
	return rc;
}

/* That of the rank itself at once, as it needs no operation to load and store; of others with the first operation. */
int zip_Win_lock_all(int assertion, MPI_Win win)
{
	static const char name[] = "MPI_Win_lock_all";
	struct zwin *w = zwin_find(win);

	int rc = zwin_check_assert(w, assertion, MPI_MODE_NOCHECK, name);
	if (rc == MPI_SUCCESS)
		rc = zwin_check_idle(w, name);
	struct zwin_peer *self = rc == MPI_SUCCESS ? zwin_get_peer(w, w->comm->rank, name, &rc) : NULL;
	if (!self)
		return rc;
	w->unchecked = assertion & MPI_MODE_NOCHECK;
	rc = ask(w, self, MPI_LOCK_SHARED, w->unchecked, name);
	if (rc == MPI_SUCCESS)
		w->access = ZWIN_LOCK_ALL;
	return rc;
}

int zip_Win_unlock_all(MPI_Win win)
{
	static const char name[] = "MPI_Win_unlock_all";
	struct zwin *w = zwin_find(win);

	if (w->access != ZWIN_LOCK_ALL)
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "there was no MPI_Win_lock_all");
	int rc = zwin_complete(w, NULL, false, name);
	for (struct zwin_peer *p = w->touched; p; p = p->next) {
		if (p->lock == ZWIN_HELD && zwin_tell(w, p, ZWIN_UNLOCK, 0, 0) != MPI_SUCCESS)
			zerror_fatal(1, "no memory to unlock a window");
		p->lock = ZWIN_FREE;
	}
	w->access = ZWIN_NO_EPOCH;
	return rc;
}

/* --- completion in such an epoch --- */

static int check_passive(struct zwin *w, int rank, const char *name)
{
	int rc = zwin_check_rank(w, rank, name);

	if (rc != MPI_SUCCESS)
		return rc;
	const struct zwin_peer *p = rank >= 0 ? w->peer[rank] : NULL;
	if (w->access == ZWIN_LOCK_ALL || (w->access == ZWIN_LOCK && (rank < 0 || (p && p->lock != ZWIN_FREE))))
		return MPI_SUCCESS;
	return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "not locked");
}

int zip_Win_flush(int rank, MPI_Win win)
{
	static const char name[] = "MPI_Win_flush";
	struct zwin *w = zwin_find(win);

	int rc = rank == MPI_PROC_NULL ? MPI_SUCCESS : check_passive(w, rank, name);
	struct zwin_peer *p = rc == MPI_SUCCESS && rank >= 0 ? zwin_get_peer(w, rank, name, &rc) : NULL;
	return p ? zwin_complete(w, p, false, name) : rc;
}

int zip_Win_flush_all(MPI_Win win)
{
	static const char name[] = "MPI_Win_flush_all";
	struct zwin *w = zwin_find(win);

	int rc = check_passive(w, MPI_PROC_NULL, name);
	return rc == MPI_SUCCESS ? zwin_complete(w, NULL, false, name) : rc;
}

int zip_Win_flush_local(int rank, MPI_Win win)
{
	static const char name[] = "MPI_Win_flush_local";
	struct zwin *w = zwin_find(win);

	int rc = rank == MPI_PROC_NULL ? MPI_SUCCESS : check_passive(w, rank, name);
	struct zwin_peer *p = rc == MPI_SUCCESS && rank >= 0 ? zwin_get_peer(w, rank, name, &rc) : NULL;
	return p ? zwin_complete_here(w, p, name) : rc;
}

int zip_Win_flush_local_all(MPI_Win win)
{
	static const char name[] = "MPI_Win_flush_local_all";
	struct zwin *w = zwin_find(win);

	int rc = check_passive(w, MPI_PROC_NULL, name);
	return rc == MPI_SUCCESS ? zwin_complete_here(w, NULL, name) : rc;
}
