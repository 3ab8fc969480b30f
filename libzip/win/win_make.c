/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and ending windows of spanning communicators. See win_make.h. */
#include "libzip/win/win_make.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libzip/coll/barrier.h"
#include "libzip/coll/bcast.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_twin.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/world/handlers.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_check.h"
#include "libzip/win/win_complete.h"
#include "libzip/win/win_dispatch.h"
#include "libzip/win/win_message.h"
#include "libzip/win/win_region.h"

struct making {
	const char *name;
	struct zcomm *comm; /* the program's */
	MPI_Aint size, disp_unit;
	MPI_Info info;
	void *base;
	bool allocate, dynamic, no_locks;
};

/* Copies the program's hints without no_locks: the native window does have locks, ours. */
static int copy_info(MPI_Info info, MPI_Info *mine, bool *no_locks)
{
	char value[8] = "";
	int there = 0;

	*mine = MPI_INFO_NULL;
	if (info == MPI_INFO_NULL)
		return MPI_SUCCESS;
	int rc = zn.Info_dup(info, mine);
	if (rc == MPI_SUCCESS)
		rc = zn.Info_get(*mine, "no_locks", sizeof(value) - 1, value, &there);
	if (rc != MPI_SUCCESS || !there)
		return rc;
	*no_locks = strcmp(value, "true") == 0;
	return zn.Info_delete(*mine, "no_locks");
}

/* MPICH 4.0.2 shares memory among the processes of a host. With a size that is no multiple of 16 the others find the
 * window in another place than its owner. MPI_Win_get_attr tells the program's size. */
static MPI_Aint round_up(MPI_Aint size)
{
	return size > PTRDIFF_MAX - 15 ? size : (size + 15) & ~(MPI_Aint)15;
}

/* Makes the native window over the members of my part. They have met, so the call blocks only until all have called
 * it. Hints that cannot be copied are left out, as the others are in the call. */
static void make_natively(struct making *m, MPI_Win *win, bool *locked, struct zcomm_outcome *o)
{
	const MPI_Comm shadow = m->comm->shadow;
	struct zhandlers_quiet quiet;
	MPI_Info info;
	zhandlers_hush_home();
	int rc = copy_info(m->info, &info, &m->no_locks);
	zhandlers_unhush_home();
	zcomm_outcome_note_native(o, rc, false);
	zhandlers_quiet_begin(&quiet, shadow, m->comm->fatal);
	zshim_block_begin();
	if (m->dynamic)
		rc = zn.Win_create_dynamic(info, shadow, win);
	else if (m->allocate)
		rc = zn.Win_allocate_c(round_up(m->size), m->disp_unit, info, shadow, &m->base, win);
	else
		rc = zn.Win_create_c(m->base, m->size, m->disp_unit, info, shadow, win);
	zshim_block_end();
	zhandlers_quiet_end(&quiet, MPI_COMM_NULL);
	zcomm_outcome_note_native(o, rc, quiet.raises);
	if (rc != MPI_SUCCESS)
		*win = MPI_WIN_NULL;
	if (info != MPI_INFO_NULL)
		zn.Info_free(&info);
	if (o->failure != 0)
		return;
	zhandlers_hush_home(); /* a new window has no handler of its own */
	rc = zn.Win_lock_all(MPI_MODE_NOCHECK, *win);
	zhandlers_unhush_home();
	*locked = rc == MPI_SUCCESS;
	zcomm_outcome_note_native(o, rc, false);
}

/* Gives up a native window that other parts do not have. MPI_Win_free blocks until the members of my part have called
 * it, so a window that not all of them have stays. */
static void unmake_natively(const struct zcomm *c, MPI_Win *win, bool locked)
{
	const bool all = zcomm_meet_all(c->shadow, *win != MPI_WIN_NULL);

	if (all && *win != MPI_WIN_NULL) {
		zshim_callback_begin();
		if (locked)
			zn.Win_unlock_all(*win);
		zn.Win_free(win);
		zshim_callback_end();
	}
	*win = MPI_WIN_NULL;
}

static void destroy(struct zwin *w)
{
	for (int r = 0; w->peer && r < w->comm->size; r++)
		free(w->peer[r]);
	free(w->peer);
	free(w->start);
	free(w->post);
	zwin_region_detach_all(w);
	free(w);
}

static struct zwin *make_entry(const struct making *m, struct zcomm *twin, MPI_Win win, int64_t id)
{
	struct zwin *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->comm = twin;
	w->handle = win;
	w->id = (uint64_t)id;
	w->base = m->base;
	w->size = m->size;
	w->disp_unit = m->disp_unit;
	w->dynamic = m->dynamic;
	w->no_locks = m->no_locks;
	w->peer = calloc((size_t)twin->size, sizeof(struct zwin_peer *));
	if (!w->peer || !zwin_message_carrier()) {
		destroy(w);
		return NULL;
	}
	zwin_enter(w);
	zprogress_add(zwin_dispatch_turn);
	if (twin->nlocal > 1)
		zprogress_serve(true);
	return w;
}

static int check(const struct making *m)
{
	if (m->comm->local)
		return zerror_raise(m->comm, MPI_ERR_COMM, m->name, "this is an intercommunicator");
	if (m->size < 0)
		return zerror_raise(m->comm, MPI_ERR_SIZE, m->name, "size is %lld", (long long)m->size);
	if (m->disp_unit <= 0)
		return zerror_raise(m->comm, MPI_ERR_DISP, m->name, "displacement unit is %lld",
			(long long)m->disp_unit);
	if (!m->allocate && !m->base && m->size > 0)
		return zerror_raise(m->comm, MPI_ERR_ARG, m->name, ZERROR_NULL, "base");
	return MPI_SUCCESS;
}

/* Takes over the twin. */
static int make_on(struct making *m, struct zcomm *twin, MPI_Win *win, int64_t id)
{
	struct zcomm_outcome outcome = {0};
	struct zwin *w = NULL;
	bool locked = false;

	make_natively(m, win, &locked, &outcome);
	if (outcome.failure == 0) {
		w = make_entry(m, twin, *win, id);
		zcomm_outcome_note(&outcome, w ? MPI_SUCCESS : MPI_ERR_NO_MEM, "out of memory");
	}
	zcomm_outcome_agree(twin, m->name, &outcome);
	if (outcome.failure == 0)
		return MPI_SUCCESS;
	unmake_natively(m->comm, win, locked);
	if (w) {
		if (twin->nlocal > 1)
			zprogress_serve(false);
		zwin_leave(w);
		destroy(w);
	}
	zcomm_unref(twin);
	zcomm_reap();
	return zcomm_outcome_raise(m->comm->handle, m->name, &outcome);
}

/* The agreement at the end keeps messages about the window back until all members have it. */
static int make(struct making *m, MPI_Win *win)
{
	int64_t id = 0;
	int rc = check(m);

	zcomm_reap();
	if (rc == MPI_SUCCESS)
		*win = MPI_WIN_NULL;
	if (rc != MPI_SUCCESS)
		return rc;
	struct zcomm_outcome outcome = {0};
	struct zcomm *twin = zcomm_twin(m->comm, m->name, &outcome);
	if (!twin)
		return zcomm_outcome_raise(m->comm->handle, m->name, &outcome);
	id = twin->rank == 0 ? (int64_t)zcomm_new_id() : 0;
	rc = zbcast_run(twin, m->name, &id, 1, MPI_INT64_T, 0);
	if (rc == MPI_SUCCESS)
		rc = zbarrier_run(twin);
	if (rc != MPI_SUCCESS) {
		zcomm_unref(twin);
		return rc;
	}
	return make_on(m, twin, win, id);
}

int zwin_make_create(const char *name, void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
	MPI_Win *win)
{
	struct making m = {name, zcomm_find(comm), size, disp_unit, info, base, false, false, false};

	return make(&m, win);
}

int zwin_make_allocate(const char *name, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
	MPI_Win *win)
{
	struct making m = {name, zcomm_find(comm), size, disp_unit, info, NULL, true, false, false};
	int rc = make(&m, win);

	if (rc == MPI_SUCCESS)
		*(void **)baseptr = m.base;
	return rc;
}

int zip_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct making m = {"MPI_Win_create_dynamic", zcomm_find(comm), 0, 1, info, NULL, false, true, false};

	return make(&m, win);
}

/* After the barrier no member sends messages about the window. */
int zip_Win_free(MPI_Win *win)
{
	static const char name[] = "MPI_Win_free";
	struct zwin *w = zwin_find(*win);
	int rc = zwin_check_closed(w, name);

	if (rc != MPI_SUCCESS)
		return rc;
	const int late = zwin_complete_talk(w, name); /* has been raised; the window ends all the same */
	rc = zbarrier_run(w->comm);
	if (w->comm->nlocal > 1)
		zprogress_serve(false);
	zshim_callback_begin(); /* it runs attribute callbacks, and blocks until the others have called it */
	zn.Win_unlock_all(w->handle);
	const int freed = zn.Win_free(win);
	zshim_callback_end();
	zwin_leave(w); /* not earlier: those callbacks may ask for the window's group */
	zcomm_unref(w->comm);
	destroy(w);
	zcomm_reap();
	return rc != MPI_SUCCESS ? rc : freed != MPI_SUCCESS ? freed : late;
}

int zip_Win_get_group(MPI_Win win, MPI_Group *group)
{
	struct zwin *w = zwin_find(win);
	int rc = zgroup_create(w->comm->vrank, w->comm->size, w->comm->session, group);

	return zwin_raise(w, rc, "MPI_Win_get_group", "out of memory");
}

int zip_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
	struct zwin *w = zwin_find(win);
	int rc = zn.Win_get_attr(win, keyval, value, flag);

	if (rc == MPI_SUCCESS && *flag && keyval == MPI_WIN_SIZE)
		*(MPI_Aint **)value = &w->size;
	if (rc == MPI_SUCCESS && *flag && keyval == MPI_WIN_BASE && w->base) /* MPICH 4.0.2 rounds it down */
		*(void **)value = w->base;
	return rc;
}

int zip_I_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag, int kind)
{
	const struct zwin *w = zwin_find(win);
	int rc = zn.I_Win_get_attr(win, keyval, value, flag, kind);
	MPI_Aint own;

	if (rc != MPI_SUCCESS || !*flag)
		return rc;
	if (keyval == MPI_WIN_SIZE + 1) /* in Fortran */
		own = w->size;
	else if (keyval == MPI_WIN_BASE + 1 && w->base)
		own = (MPI_Aint)w->base;
	else
		return rc;
	if (kind == ZEXTRA_AS_INT)
		*(MPI_Fint *)value = (MPI_Fint)own;
	else
		*(MPI_Aint *)value = own;
	return rc;
}

int zip_Win_set_info(MPI_Win win, MPI_Info info)
{
	MPI_Info mine;
	int rc = copy_info(info, &mine, &zwin_find(win)->no_locks);

	if (rc == MPI_SUCCESS)
		rc = zn.Win_set_info(win, mine);
	if (mine != MPI_INFO_NULL)
		zn.Info_free(&mine);
	return rc;
}

int zip_Win_get_info(MPI_Win win, MPI_Info *info)
{
	int rc = zn.Win_get_info(win, info);

	return rc == MPI_SUCCESS && zwin_find(win)->no_locks ? zn.Info_set(*info, "no_locks", "true") : rc;
}

int zip_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct zwin *w = zwin_find(win);
	int rc = zn.Win_attach(win, base, size);

	if (rc != MPI_SUCCESS)
		return rc;
	return zwin_raise(w, zwin_region_attach(w, base, size), "MPI_Win_attach", "out of memory");
}

int zip_Win_detach(MPI_Win win, const void *base)
{
	zwin_region_detach(zwin_find(win), base);
	return zn.Win_detach(win, base);
}
