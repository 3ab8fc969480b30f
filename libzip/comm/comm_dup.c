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
#include "libzip/world/foreign.h"
#include "libzip/world/handlers.h"
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
	const char *started_by;	  /* the nonblocking function; NULL: the call that waits is the function itself */
	struct zcomm_idup_copy copy;
	struct zcomm_outcome outcome;
	struct zcomm_outcome *report; /* not NULL: the caller wants the outcome, and the schedule does not fail */
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
	zcomm_idup_copied(&d->copy);
	zengine_within(outer);
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
	const struct zcomm_idup idup = {.start = start_dup,
		.arg = d,
		.over = d->parent->shadow,
		.made = &d->native,
		.outcome = &d->outcome,
		.members = d->parent->nlocal,
		.numbered = d->parent->numbered,
		.handled = true,
		.waits = !d->started_by};
	return rc == MPI_SUCCESS ? zcomm_idup_add(s, &idup) : rc;
}

static int make_entry(struct zsched *s, void *arg)
{
	struct dup *d = arg;
	struct zcomm *c = d->parent;
	(void)s;
	if (d->outcome.failure != 0)
		return MPI_SUCCESS;
	int rc = d->inter ? zinter_dup_make(d->inter, d->native)
			  : zcomm_make(c, d->native, (uint64_t)d->id, c->vrank, c->size);
	zcomm_outcome_note(&d->outcome, rc, "out of memory");
	if (rc == MPI_SUCCESS && !d->inter)
		zcomm_find(d->native)->numbered = c->numbered;
	if (rc == MPI_SUCCESS && c->topo)
		zcomm_find(d->native)->topo = ztopo_ref(c->topo);
	return MPI_SUCCESS;
}

/* Copies the hints, as the application may free or change them when the call has returned. */
static void copy_info(struct dup *d, MPI_Info info)
{
	if (info == MPI_INFO_NULL)
		return;
	zhandlers_hush_home();
	zcomm_outcome_note_native(&d->outcome, zn.Info_dup(info, &d->info), false);
	zhandlers_unhush_home();
	if (d->outcome.failure != 0)
		d->info = MPI_INFO_NULL;
}

static void forget_info(struct dup *d)
{
	if (d->info != MPI_INFO_NULL)
		zn.Info_free(&d->info);
}

/* The last steps have agreed on the outcome. */
static int conclude(struct zsched *s, void *arg)
{
	struct dup *d = arg;
	if (d->report)
		*d->report = d->outcome;
	else if (d->outcome.raised != MPI_SUCCESS)
		zsched_fail_raised(s, zcomm_outcome_class(&d->outcome), d->outcome.raised);
	else if (d->outcome.own != MPI_SUCCESS)
		zsched_fail_own(s, zcomm_outcome_class(&d->outcome), d->outcome.own);
	else if (d->outcome.failure != 0)
		zsched_fail_text(s, zcomm_outcome_class(&d->outcome), "%s%s%s", d->started_by ? d->started_by : "",
			d->started_by ? ": " : "", d->outcome.text);
	return MPI_SUCCESS;
}

static void dup_done(void *arg, int *error)
{
	struct dup *d = arg;
	*d->newcomm = MPI_COMM_NULL;
	forget_info(d);
	if (*error == MPI_SUCCESS && d->outcome.failure == 0) {
		zcomm_make_join(d->native, d->board);
		*d->newcomm = d->native;
		return;
	}
	zboard_leave(zboard_join(d->board, d->parent->nlocal, 0));
	if (d->inter)
		zinter_dup_undo(d->inter, d->native);
	else
		zcomm_make_undo(d->native);
}

/* The local members learn the number of a board from the first of them. */
static int agree_on_board(struct zsched *s, struct dup *d)
{
	struct zcomm *c = d->parent;
	d->board = zcomm_shadow_rank(c, c->rank) == 0 ? zboard_claim(c->nlocal) : -1;
	return c->nlocal > 1 ? zinside_bcast(s, &d->board, 1, MPI_INT, 0) : MPI_SUCCESS;
}

static int build_dup(struct zsched *s, struct dup *d)
{
	const struct zcomm *c = d->parent;
	int rc = begin_dup(s, d);
	if (rc == MPI_SUCCESS)
		rc = c->local ? zinter_dup_build(s, &d->inter, &d->outcome, !d->started_by) : agree_on_board(s, d);
	if (rc == MPI_SUCCESS && !c->local)
		rc = zbcast_add(s, &d->id, 1, MPI_INT64_T, 0);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, make_entry, d);
	zsched_round(s);
	return rc == MPI_SUCCESS ? zcomm_outcome_add(s, &d->outcome, conclude, d) : rc;
}

static int compile_dup(const struct dup *wanted, MPI_Info info, const char *name, struct zsched **out,
	struct dup **made)
{
	struct zcomm *c = wanted->parent;
	*wanted->newcomm = MPI_COMM_NULL;
	struct zsched *s = zsched_create(c, name);
	struct dup *d = *made = s ? zsched_alloc(s, sizeof *d) : NULL;
	int rc = d ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (d) {
		*d = *wanted;
		d->info = MPI_INFO_NULL;
		d->native = MPI_COMM_NULL;
		d->board = -1;
		d->id = c->rank == 0 ? (int64_t)zcomm_new_id() : 0;
		copy_info(d, info);
		rc = build_dup(s, d);
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

void zcomm_dup(struct zcomm *c, const char *name, MPI_Comm *newcomm, struct zcomm_outcome *outcome)
{
	const struct dup wanted = {.parent = c, .newcomm = newcomm, .report = outcome};
	struct zsched *s;
	struct dup *d;
	int rc = compile_dup(&wanted, MPI_INFO_NULL, name, &s, &d);
	if (rc == MPI_SUCCESS)
		rc = zengine_run(s);
	if (rc == MPI_SUCCESS)
		return;
	zcomm_outcome_note(outcome, zerror_class(rc), "the members could not agree");
	outcome->raised = rc;
}

/* --- local communicators --- */

struct local_dup {
	MPI_Comm comm, *newcomm;
	bool with_info;
	MPI_Info info;
};

static int start_local(void *arg, MPI_Request *r)
{
	const struct local_dup *d = arg;
	zshim_callback_begin();
	int rc = d->with_info ? zn.Comm_idup_with_info(d->comm, d->info, d->newcomm, r)
			      : zn.Comm_idup(d->comm, d->newcomm, r);
	zshim_callback_end();
	return rc;
}

/* With several members the nonblocking function, whose error would tell of MPI_Test, as a schedule of its own: it sends
 * nothing over the bridge, so any communicator will do. */
static int run_local(struct local_dup *d, const char *name)
{
	struct zcomm_outcome outcome = {0};
	const struct zcomm_idup idup = {.start = start_local,
		.arg = d,
		.over = d->comm,
		.made = d->newcomm,
		.outcome = &outcome,
		.members = 2,
		.raises = true,
		.waits = true};
	struct zsched *s = zsched_create(zcomm_world, name);
	int rc = s ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (s) {
		zsched_detach(s, ZCOMM_INTERNAL, 0);
		rc = zcomm_idup_add(s, &idup);
	}
	if (rc != MPI_SUCCESS) {
		if (s)
			zsched_destroy(s);
		return zerror_raise_native(d->comm, rc, name, "out of memory");
	}
	rc = zengine_run(s);
	return rc == MPI_SUCCESS ? zcomm_outcome_raise(d->comm, name, &outcome) : rc;
}

static int local_dup(MPI_Comm comm, bool with_info, MPI_Info info, MPI_Comm *newcomm, const char *name)
{
	struct local_dup d = {comm, newcomm, with_info, info};
	if (!zcoll_local_may_block(comm) && !zforeign_in(comm))
		return run_local(&d, name);
	zshim_callback_begin();
	int rc = with_info ? zn.Comm_dup_with_info(comm, info, newcomm) : zn.Comm_dup(comm, newcomm);
	zshim_callback_end();
	return rc;
}

/* --- the MPI functions --- */

static int duplicate(MPI_Comm comm, bool with_info, MPI_Info info, MPI_Comm *newcomm, const char *name)
{
	struct zcomm *c = zcomm_find(comm);
	const struct dup wanted = {.parent = c, .with_info = with_info, .newcomm = newcomm};
	struct zsched *s;
	struct dup *d;
	zcomm_reap();
	if (!c)
		return local_dup(comm, with_info, info, newcomm, name);
	int rc = compile_dup(&wanted, info, name, &s, &d);
	if (rc == MPI_SUCCESS)
		rc = zengine_run(s);
	if (rc != MPI_SUCCESS)
		zcomm_reap();
	return rc;
}

static int start_duplicate(MPI_Comm comm, bool with_info, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request,
	const char *name)
{
	struct zcomm *c = zcomm_find(comm);
	const struct dup wanted = {.parent = c, .with_info = with_info, .newcomm = newcomm, .started_by = name};
	struct zsched *s;
	struct dup *d;
	int rc;
	if (!c) {
		zshim_callback_begin();
		rc = with_info ? zn.Comm_idup_with_info(comm, info, newcomm, request)
			       : zn.Comm_idup(comm, newcomm, request);
		zshim_callback_end();
		return rc;
	}
	rc = compile_dup(&wanted, info, name, &s, &d);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zreq_publish(zsched_request(s), request);
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return zerror_raise(c, rc, name, "out of memory");
	}
	zcomm_idup_due(&d->copy, c->shadow);
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
