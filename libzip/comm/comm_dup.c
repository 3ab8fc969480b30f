/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_dup and idup, with and without hints. They are schedules, so that blocking and nonblocking calls are the
 * same: the native duplication is nonblocking, too.
 */
#include "libzip/comm/comm_dup.h"

#include "libzip/coll/base/coll_local.h"
#include "libzip/coll/bcast.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/comm/comm_idup.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/inter_dup.h"
#include "libzip/schedule/engine.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/board.h"
#include "libzip/world/error.h"
#include "libzip/world/topo.h"

struct dup {
	struct zcomm *parent;
	MPI_Info info; /* a copy; MPI_INFO_NULL without with_info: the parent's hints */
	bool with_info;
	MPI_Comm native;
	int64_t id;
	int board;
	struct zinter_dup *inter; /* the other communicators of an intercommunicator, else NULL */
	MPI_Comm *newcomm;	  /* where the application wants it */
};

static int start_dup(void *arg, MPI_Request *r)
{
	struct dup *d = arg;
	int rc;
	const struct zcomm *outer = zengine_within(d->parent);
	zshim_callback_begin(); /* copies attributes */
	rc = d->with_info ? zn.Comm_idup_with_info(d->parent->shadow, d->info, &d->native, r)
			  : zn.Comm_idup(d->parent->shadow, &d->native, r);
	zshim_callback_end();
	zengine_within(outer);
	if (rc != MPI_SUCCESS) {
		d->native = MPI_COMM_NULL;
		*r = MPI_REQUEST_NULL;
	}
	return rc;
}

static int start_meeting(void *arg, MPI_Request *r)
{
	struct dup *d = arg;
	return zn.Ibarrier(d->parent->shadow, r);
}

/* With several threads the members meet first, see comm_idup.h. */
static int begin_dup(struct zsched *s, struct dup *d)
{
	int rc = MPI_SUCCESS;
	if (zshim_threaded && d->parent->nlocal > 1) {
		rc = zstep_native(s, start_meeting, d);
		zsched_round(s);
	}
	return rc == MPI_SUCCESS ? zcomm_idup_add(s, start_dup, d, d->parent->nlocal) : rc;
}

static int finish_dup(struct dup *d)
{
	struct zcomm *c = d->parent;
	int rc = zcomm_make(c, d->native, (uint64_t)d->id, c->vrank, c->size, d->board, d->newcomm);
	if (rc == MPI_SUCCESS && c->topo)
		zcomm_find(*d->newcomm)->topo = ztopo_ref(c->topo);
	return rc;
}

/* Copies the hints, as the application may free or change them when the call has returned. */
static int copy_info(struct dup *d, MPI_Info info)
{
	return info == MPI_INFO_NULL ? MPI_SUCCESS : zn.Info_dup(info, &d->info);
}

static void forget_info(struct dup *d)
{
	if (d->info != MPI_INFO_NULL)
		zn.Info_free(&d->info);
}

static void dup_done(void *arg, int *error)
{
	struct dup *d = arg;
	*d->newcomm = MPI_COMM_NULL;
	forget_info(d);
	if (*error == MPI_SUCCESS && d->inter)
		*error = zinter_dup_finish(d->inter, d->native, d->newcomm);
	else if (*error == MPI_SUCCESS && d->native != MPI_COMM_NULL)
		*error = finish_dup(d);
	else
		zboard_leave(zboard_join(d->board, d->parent->nlocal, 0));
}

/* The local members learn the number of a board from the first of them. */
static int agree_on_board(struct zsched *s, struct dup *d)
{
	struct zcomm *c = d->parent;
	d->board = c->shadow_rank[c->rank] == 0 ? zboard_claim(c->nlocal) : -1;
	return c->nlocal > 1 ? zinside_bcast(s, &d->board, 1, MPI_INT, 0) : MPI_SUCCESS;
}

static int compile_dup(struct zcomm *c, bool with_info, MPI_Info info, MPI_Comm *newcomm, const char *name,
	struct zsched **out)
{
	*newcomm = MPI_COMM_NULL;
	struct zsched *s = zsched_create(c, name);
	struct dup *d = s ? zsched_alloc(s, sizeof *d) : NULL;
	int rc = d ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (d) {
		*d = (struct dup){.parent = c,
			.info = MPI_INFO_NULL,
			.with_info = with_info,
			.native = MPI_COMM_NULL,
			.board = -1,
			.newcomm = newcomm,
			.id = c->rank == 0 ? (int64_t)zcomm_new_id() : 0};
		rc = copy_info(d, info);
		if (rc == MPI_SUCCESS)
			rc = begin_dup(s, d);
		if (rc == MPI_SUCCESS)
			rc = c->local ? zinter_dup_build(s, &d->inter) : agree_on_board(s, d);
		if (rc == MPI_SUCCESS && !c->local)
			rc = zbcast_add(s, &d->id, 1, MPI_INT64_T, 0);
		zsched_on_done(s, dup_done, d);
	}
	if (rc != MPI_SUCCESS) {
		if (d)
			forget_info(d);
		if (s)
			zsched_destroy(s);
		return zerror_raise(c, rc, name, "out of memory");
	}
	*out = s;
	return MPI_SUCCESS;
}

int zcomm_dup(struct zcomm *c, const char *name, MPI_Comm *newcomm)
{
	struct zsched *s;
	int rc = compile_dup(c, false, MPI_INFO_NULL, newcomm, name, &s);
	return rc == MPI_SUCCESS ? zengine_run(s) : rc;
}

static int local_dup(MPI_Comm comm, bool with_info, MPI_Info info, MPI_Comm *newcomm, const char *name)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int rc;
	zshim_callback_begin();
	if (zcoll_local_may_block(comm))
		rc = with_info ? zn.Comm_dup_with_info(comm, info, newcomm) : zn.Comm_dup(comm, newcomm);
	else
		rc = with_info ? zn.Comm_idup_with_info(comm, info, newcomm, &r) : zn.Comm_idup(comm, newcomm, &r);
	zshim_callback_end();
	return r == MPI_REQUEST_NULL ? rc : zcoll_local_wait(rc, &r, comm, name);
}

static int duplicate(MPI_Comm comm, bool with_info, MPI_Info info, MPI_Comm *newcomm, const char *name)
{
	struct zcomm *c = zcomm_find(comm);
	struct zsched *s;
	zcomm_reap();
	if (!c)
		return local_dup(comm, with_info, info, newcomm, name);
	int rc = compile_dup(c, with_info, info, newcomm, name, &s);
	return rc == MPI_SUCCESS ? zengine_run(s) : rc;
}

static int start_duplicate(MPI_Comm comm, bool with_info, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request,
	const char *name)
{
	struct zcomm *c = zcomm_find(comm);
	struct zsched *s;
	int rc;
	if (!c) {
		zshim_callback_begin();
		rc = with_info ? zn.Comm_idup_with_info(comm, info, newcomm, request)
			       : zn.Comm_idup(comm, newcomm, request);
		zshim_callback_end();
		return rc;
	}
	rc = compile_dup(c, with_info, info, newcomm, name, &s);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zreq_publish(zsched_request(s), request);
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return zerror_raise(c, rc, name, "out of memory");
	}
	zengine_start(s);
	return MPI_SUCCESS;
}

int zip_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	return duplicate(comm, false, MPI_INFO_NULL, newcomm, "MPI_Comm_dup");
}

int zip_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
	return duplicate(comm, true, info, newcomm, "MPI_Comm_dup_with_info");
}

int zip_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	return start_duplicate(comm, false, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup");
}

int zip_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
	return start_duplicate(comm, true, info, newcomm, request, "MPI_Comm_idup_with_info");
}
