/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a call on a window correct now? See win_check.h. */
#include "libzip/win/win_check.h"

int zwin_check_rank(const struct zwin *w, int rank, const char *name)
{
	if (rank == MPI_PROC_NULL || (rank >= 0 && rank < w->comm->size))
		return MPI_SUCCESS;
	return zwin_raise(w, MPI_ERR_RANK, name, "rank %d is not in the window's group (0..%d)", rank,
		w->comm->size - 1);
}

int zwin_check_idle(const struct zwin *w, const char *name)
{
	if (w->access == ZWIN_NO_EPOCH || w->access == ZWIN_FENCE)
		return MPI_SUCCESS;
	return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "an epoch of %s has not been closed",
		w->access == ZWIN_START	 ? "MPI_Win_start"
		: w->access == ZWIN_LOCK ? "MPI_Win_lock"
					 : "MPI_Win_lock_all");
}

int zwin_check_closed(const struct zwin *w, const char *name)
{
	int rc = zwin_check_idle(w, name);

	if (rc == MPI_SUCCESS && w->exposed)
		rc = zwin_raise(w, MPI_ERR_RMA_SYNC, name, "an epoch of MPI_Win_post has not been closed");
	return rc;
}

int zwin_check_assert(const struct zwin *w, int assertion, int known, const char *name)
{
	return assertion & ~known ? zwin_raise(w, MPI_ERR_ARG, name, "assertion 0x%x", (unsigned)assertion)
				  : MPI_SUCCESS;
}
