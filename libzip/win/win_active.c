/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active target synchronisation (MPI-4.0 sections 12.5.1 and 12.5.2), and MPI_Win_sync. MPI_Win_fence completes all
 * operations of this rank, then enters a barrier. So afterwards the operations of others on this rank's memory are
 * complete, too.
 */
#include <stdlib.h>

#include "libzip/coll/barrier.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_check.h"
#include "libzip/win/win_complete.h"
#include "libzip/win/win_message.h"
#include "libzip/world/group.h"

/* --- fence --- */

int zip_Win_fence(int assertion, MPI_Win win)
{
	static const char name[] = "MPI_Win_fence";
	struct zwin *w = zwin_find(win);

	int rc = zwin_check_assert(w, assertion,
		MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, name);
	if (rc == MPI_SUCCESS)
		rc = zwin_check_closed(w, name);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zwin_complete(w, NULL, false, name); /* also where the assertion says that nothing was started */
	w->access = assertion & MPI_MODE_NOSUCCEED ? ZWIN_NO_EPOCH : ZWIN_FENCE;
	const int met = zbarrier_run(w->comm);
	zn.Win_sync(w->handle);
	return rc == MPI_SUCCESS ? met : rc;
}

/* --- post, start, complete, wait --- */

/* The ranks of a group in the window, in an array that the caller frees. */
static int ranks_of(struct zwin *w, MPI_Group group, int **ranks, int *n, const char *name)
{
	const struct zgroup *g = zgroup_find(group);

	if (!g)
		return zwin_raise(w, MPI_ERR_GROUP, name, "invalid group");
	int *list = malloc(((size_t)g->size + 1) * sizeof(*list)), rc = MPI_SUCCESS;
	if (!list)
		return zwin_raise(w, MPI_ERR_NO_MEM, name, "out of memory");
	for (int i = 0; i < g->size && rc == MPI_SUCCESS; i++) {
		list[i] = zcomm_rank_of(w->comm, g->vrank[i]);
		if (list[i] == MPI_UNDEFINED)
			rc = zwin_raise(w, MPI_ERR_GROUP, name, "the group is not a subset of the window's");
		else
			zwin_get_peer(w, list[i], name, &rc);
	}
	if (rc != MPI_SUCCESS) {
		free(list);
		return rc;
	}
	*ranks = list;
	*n = g->size;
	return MPI_SUCCESS;
}

static int tell_all(struct zwin *w, const int *ranks, int n, enum zwin_kind kind, const char *name)
{
	int rc = MPI_SUCCESS;

	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = zwin_message_tell(w, w->peer[ranks[i]], kind, 0, 0);
	return rc == MPI_SUCCESS ? rc : zwin_raise(w, rc, name, "out of memory");
}

static bool all_posted(void *arg)
{
	const struct zwin *w = arg;

	for (int i = 0; i < w->nstart; i++)
		if (w->peer[w->start[i]]->posts == 0)
			return false;
	return true;
}

static bool all_have_completed(void *arg)
{
	const struct zwin *w = arg;

	for (int i = 0; i < w->npost; i++)
		if (w->peer[w->post[i]]->completes == 0)
			return false;
	return true;
}

int zip_Win_post(MPI_Group group, int assertion, MPI_Win win)
{
	static const char name[] = "MPI_Win_post";
	struct zwin *w = zwin_find(win);

	if (w->exposed)
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "MPI_Win_wait has not been called since the last one");
	int rc = zwin_check_assert(w, assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT, name);
	if (rc == MPI_SUCCESS)
		rc = ranks_of(w, group, &w->post, &w->npost, name);
	if (rc != MPI_SUCCESS)
		return rc;
	w->exposed = true;
	return assertion & MPI_MODE_NOCHECK ? MPI_SUCCESS : tell_all(w, w->post, w->npost, ZWIN_POST, name);
}

int zip_Win_start(MPI_Group group, int assertion, MPI_Win win)
{
	static const char name[] = "MPI_Win_start";
	struct zwin *w = zwin_find(win);

	int rc = zwin_check_assert(w, assertion, MPI_MODE_NOCHECK, name);
	if (rc == MPI_SUCCESS)
		rc = zwin_check_idle(w, name);
	if (rc == MPI_SUCCESS)
		rc = ranks_of(w, group, &w->start, &w->nstart, name);
	if (rc != MPI_SUCCESS)
		return rc;
	w->access = ZWIN_START;
	if (!(assertion & MPI_MODE_NOCHECK))
		zprogress_wait(all_posted, w);
	for (int i = 0; i < w->nstart; i++) {
		struct zwin_peer *p = w->peer[w->start[i]];
		p->posts -= !(assertion & MPI_MODE_NOCHECK);
		p->started = true;
	}
	return MPI_SUCCESS;
}

int zip_Win_complete(MPI_Win win)
{
	static const char name[] = "MPI_Win_complete";
	struct zwin *w = zwin_find(win);

	if (w->access != ZWIN_START)
		return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "there was no MPI_Win_start");
	int rc = zwin_complete(w, NULL, false, name);
	for (int i = 0; i < w->nstart; i++)
		w->peer[w->start[i]]->started = false;
	const int told = tell_all(w, w->start, w->nstart, ZWIN_COMPLETE, name);
	free(w->start);
	w->start = NULL;
	w->nstart = 0;
	w->access = ZWIN_NO_EPOCH;
	return rc == MPI_SUCCESS ? told : rc;
}

static void end_exposure(struct zwin *w)
{
	for (int i = 0; i < w->npost; i++)
		w->peer[w->post[i]]->completes--;
	free(w->post);
	w->post = NULL;
	w->npost = 0;
	w->exposed = false;
	zn.Win_sync(w->handle);
}

static int check_exposed(struct zwin *w, const char *name)
{
	return w->exposed ? MPI_SUCCESS : zwin_raise(w, MPI_ERR_RMA_SYNC, name, "there was no MPI_Win_post");
}

int zip_Win_wait(MPI_Win win)
{
	struct zwin *w = zwin_find(win);

	int rc = check_exposed(w, "MPI_Win_wait");
	if (rc != MPI_SUCCESS)
		return rc;
	zprogress_wait(all_have_completed, w);
	end_exposure(w);
	return MPI_SUCCESS;
}

int zip_Win_test(MPI_Win win, int *flag)
{
	struct zwin *w = zwin_find(win);

	int rc = check_exposed(w, "MPI_Win_test");
	if (rc != MPI_SUCCESS)
		return rc;
	*flag = all_have_completed(w) || (zprogress_test_failed(false) && all_have_completed(w));
	if (*flag)
		end_exposure(w);
	return MPI_SUCCESS;
}

/* Loads, stores and windows share one memory. But programs poll memory with this call, so it makes progress. */
int zip_Win_sync(MPI_Win win)
{
	int rc = zn.Win_sync(win);

	zprogress_test_failed(true);
	return rc;
}
