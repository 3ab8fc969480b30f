/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of one-sided operations. See win_complete.h. */
#include "libzip/win/win_complete.h"

#include "libzip/bridge/bridge.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_lock.h"
#include "libzip/win/win_message.h"
#include "libzip/win/win_origin.h"
#include "libzip/world/error.h"

static void ask_flush(struct zwin *w, struct zwin_peer *p, bool release)
{
	if (zwin_message_tell(w, p, ZWIN_FLUSH, 0, release ? ZWIN_F_RELEASE : 0) != MPI_SUCCESS)
		zerror_fatal(1, "no memory to complete operations on a window");
	p->flushes++;
	p->dirty = p->said = false;
}

struct completing {
	struct zwin *win;
	struct zwin_peer *only; /* NULL: all touched peers */
	uint64_t flushes;	/* FLUSHs of `only` to be answered; other threads may send more meanwhile */
	bool here;		/* at the origin alone */
};

static bool all_complete(void *arg)
{
	const struct completing *c = arg;

	if (c->only)
		return zwin_origin_is_done(c->only) && (c->here || c->only->flushed >= c->flushes);
	for (struct zwin_peer *p = c->win->touched; p; p = p->next)
		if (!zwin_origin_is_done(p) || (!c->here && p->flushed != p->flushes))
			return false;
	return true;
}

static const char *class_text(int class)
{
	switch (class) {
	case MPI_ERR_RMA_RANGE:
		return "an access was outside the window, or the datatypes do not fit";
	case MPI_ERR_TYPE:
		return "the datatypes of origin and target do not fit, or the target lacks one of them";
	case MPI_ERR_TRUNCATE:
		return "the data are longer than the datatype that receives them";
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

/* Takes the peers with nothing left to do out of the list. Calls the error handler last, because the handler may use
 * the window. Of several errors the next completions raise the others. */
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

/* Completes native operations on members of my part, one member after the other: MPI_Win_flush_all and
 * MPI_Win_flush_local_all of MPICH 4.0.2 over UCX return before MPI_Get has got everything. The list may change
 * meanwhile, but no peer with native operations leaves it. */
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
		zprogress_test_failed(true); /* programs poll memory with these calls, so other ranks have to get on */
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
	if (release && only->lock == ZWIN_HELD && !with_flush && zwin_lock_give_back(w, only) != MPI_SUCCESS)
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
