/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of operations, and active target synchronisation (MPI-4.0 sections 12.5.1, 12.5.2 and 12.5.4). Fence is:
 * complete everything, then a barrier; so what others have begun on this rank's memory is complete, too.
 */
#include <stdlib.h>

#include "libzip/bridge/bridge.h"
#include "libzip/coll/coll.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_parts.h"

void zwin_touch(struct zwin *w, struct zwin_peer *p)
{
	if (p->touched)
		return;
	p->touched = true;
	p->next = w->touched;
	w->touched = p;
}

int zwin_check_rank(struct zwin *w, int rank, const char *name)
{
	if (rank == MPI_PROC_NULL || (rank >= 0 && rank < w->comm->size))
		return MPI_SUCCESS;
	return zwin_raise(w, MPI_ERR_RANK, name, "rank %d is not in the window's group (0..%d)", rank,
		w->comm->size - 1);
}

struct zwin_peer *zwin_get_peer(struct zwin *w, int rank, const char *name, int *rc)
{
	struct zwin_peer *p = zwin_peer(w, rank);

	if (!p)
		*rc = zwin_raise(w, MPI_ERR_NO_MEM, name, "out of memory");
	return p;
}

/* --- completion --- */

static void ask_flush(struct zwin *w, struct zwin_peer *p, bool release)
{
	if (zwin_tell(w, p, ZWIN_FLUSH, 0, release ? ZWIN_F_RELEASE : 0) != MPI_SUCCESS)
		zerror_fatal(1, "no memory to complete what was begun on a window");
	p->flushes++;
	p->dirty = p->said = false;
}

struct completing {
	struct zwin *win;
	struct zwin_peer *only; /* NULL: all that are touched */
	uint64_t flushes;	/* of only: that are to be answered; others go on meanwhile */
	bool here;		/* at the origin alone */
};

static bool all_complete(void *arg)
{
	const struct completing *c = arg;

	if (c->only)
		return zwin_ops_done(c->only) && (c->here || c->only->flushed >= c->flushes);
	for (struct zwin_peer *p = c->win->touched; p; p = p->next)
		if (!zwin_ops_done(p) || (!c->here && p->flushed != p->flushes))
			return false;
	return true;
}

static const char *class_text(int class)
{
	switch (class) {
	case MPI_ERR_RMA_RANGE:
		return "an access was outside of its window, or of datatypes that do not fit";
	case MPI_ERR_TYPE:
		return "the datatypes of origin and target do not fit, or it does not have one of them";
	case MPI_ERR_TRUNCATE:
		return "there is more data than it is for";
	case MPI_ERR_OP:
		return "the operation is not defined for the datatype";
	default:
		return "an operation has failed there";
	}
}

static int raise_error(struct zwin *w, struct zwin_peer *p, const char *name)
{
	const int class = p->error;

	p->error = MPI_SUCCESS;
	return class == MPI_SUCCESS ? class : zwin_raise(w, class, name, "rank %d: %s", p->rank, class_text(class));
}

/* Those about which nothing is left to be done leave the list. The handler is called when that is over: it may use the
 * window. Of several errors the others are raised next time. */
static int raise_errors(struct zwin *w, const char *name)
{
	struct zwin_peer *wrong = NULL;

	for (struct zwin_peer **at = &w->touched, *p; (p = *at);) {
		if (!wrong && p->error != MPI_SUCCESS)
			wrong = p;
		if (p->ops || p->dirty || p->native_dirty || p->flushed != p->flushes || p->lock != ZWIN_FREE ||
			(p->error != MPI_SUCCESS && p != wrong)) {
			at = &p->next;
		} else {
			*at = p->next;
			p->touched = false;
		}
	}
	return wrong ? raise_error(w, wrong, name) : MPI_SUCCESS;
}

static int flush_one_natively(struct zwin *w, struct zwin_peer *p, bool here)
{
	const int rank = zwin_native_rank(w, p->rank);

	if (!p->native_dirty)
		return MPI_SUCCESS;
	p->native_dirty = here;
	zshim_block_begin();
	int rc = here ? zn.Win_flush_local(rank, w->handle) : zn.Win_flush(rank, w->handle);
	zshim_block_end();
	return rc;
}

/* Native operations on members of my part, one after the other: MPI_Win_flush_all and MPI_Win_flush_local_all of MPICH
 * 4.0.2 over UCX return before MPI_Get has got everything. The list may change meanwhile, but nobody who has native
 * operations leaves it. */
static int flush_natively(struct zwin *w, struct zwin_peer *only, bool here)
{
	int rc = MPI_SUCCESS;

	if (only)
		return flush_one_natively(w, only, here);
	for (struct zwin_peer *p = w->touched; p && rc == MPI_SUCCESS; p = p->next)
		rc = flush_one_natively(w, p, here);
	return rc;
}

static int finish(struct completing *c, const char *name)
{
	int rc = flush_natively(c->win, c->only, c->here);

	if (all_complete(c))
		zprogress_test_failed(true); /* programs poll memory in this way, too: others have to get on */
	else
		zprogress_wait(all_complete, c);
	const int late = c->only ? raise_error(c->win, c->only, name) : raise_errors(c->win, name);
	return rc == MPI_SUCCESS ? late : rc;
}

int zwin_complete(struct zwin *w, struct zwin_peer *only, bool release, const char *name)
{
	struct completing c = {.win = w, .only = only};
	const bool with_flush = release && only->dirty && only->lock == ZWIN_HELD;

	if (only && only->dirty)
		ask_flush(w, only, with_flush);
	c.flushes = only ? only->flushes : 0;
	for (struct zwin_peer *p = only ? NULL : w->touched; p; p = p->next)
		if (p->dirty)
			ask_flush(w, p, false);
	int rc = finish(&c, name);
	if (release && only->lock == ZWIN_HELD && !with_flush && zwin_tell(w, only, ZWIN_UNLOCK, 0, 0) != MPI_SUCCESS)
		zerror_fatal(1, "no memory to unlock a window");
	if (release)
		only->lock = ZWIN_FREE;
	return rc;
}

int zwin_complete_here(struct zwin *w, struct zwin_peer *only, const char *name)
{
	struct completing c = {.win = w, .only = only, .here = true};

	return finish(&c, name);
}

int zwin_complete_talk(struct zwin *w, const char *name)
{
	for (int r = 0; r < w->comm->size; r++) {
		struct zwin_peer *p = w->peer[r];
		if (p && p->said) {
			ask_flush(w, p, false);
			zwin_touch(w, p);
		}
	}
	return zwin_complete(w, NULL, false, name);
}

/* Memory is one for load, store and window; but programs poll it in this way, too. */
int zip_Win_sync(MPI_Win win)
{
	int rc = zn.Win_sync(win);

	zprogress_test_failed(true);
	return rc;
}

/* --- fence --- */

int zwin_check_idle(struct zwin *w, const char *name)
{
	if (w->access == ZWIN_NO_EPOCH || w->access == ZWIN_FENCE)
		return MPI_SUCCESS;
	return zwin_raise(w, MPI_ERR_RMA_SYNC, name, "an epoch of %s has not been closed",
		w->access == ZWIN_START	 ? "MPI_Win_start"
		: w->access == ZWIN_LOCK ? "MPI_Win_lock"
					 : "MPI_Win_lock_all");
}

int zwin_check_closed(struct zwin *w, const char *name)
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
	rc = zwin_complete(w, NULL, false, name); /* also where nothing should have been started */
	w->access = assertion & MPI_MODE_NOSUCCEED ? ZWIN_NO_EPOCH : ZWIN_FENCE;
	const int met = zcoll_barrier(w->comm);
	zn.Win_sync(w->handle);
	return rc == MPI_SUCCESS ? met : rc;
}

/* --- post, start, complete, wait --- */

/* The ranks of a group in the window: an array to be freed. */
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
		rc = zwin_tell(w, w->peer[ranks[i]], kind, 0, 0);
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
