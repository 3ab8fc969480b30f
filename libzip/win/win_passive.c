/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target synchronisation (MPI-4.0 sections 12.5.3 and 12.5.4): locks, and completion while they are held. */
#include "libzip/shim/shim.h"
#include "libzip/win/win_check.h"
#include "libzip/win/win_complete.h"
#include "libzip/win/win_lock.h"
#include "libzip/world/error.h"

int zip_Win_lock(int lock_type, int rank, int assertion, MPI_Win win)
{
	static const char name[] = "MPI_Win_lock";
	struct zwin *w = zwin_find(win);
	int rc;

	if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
		return zwin_raise(w, MPI_ERR_ARG, name, "lock type is %d", lock_type); /* the class that MPICH gives */
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
	rc = zwin_lock_ask(w, p, lock_type, assertion & MPI_MODE_NOCHECK, name);
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

/* Locks this rank itself at once, because loads and stores need no operation. Locks another rank with the first
 * operation on it. */
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
	rc = zwin_lock_ask(w, self, MPI_LOCK_SHARED, w->unchecked, name);
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
		if (p->lock == ZWIN_HELD && zwin_lock_give_back(w, p) != MPI_SUCCESS)
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
