/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplication of intercommunicators. */
#include "libzip/comm/inter_dup.h"

#include "libzip/coll/across/across.h"
#include "libzip/coll/bcast.h"
#include "libzip/comm/comm_idup.h"
#include "libzip/comm/comm_make.h"
#include "libzip/shim/shim.h"

struct zinter_dup {
	struct zcomm *parent;
	MPI_Comm near, local_shadow;
	int64_t mine, theirs; /* ids that the two groups propose */
};

static int start_near(void *arg, MPI_Request *r)
{
	struct zinter_dup *d = arg;
	return zn.Comm_idup(d->parent->near, &d->near, r);
}

static int start_local(void *arg, MPI_Request *r)
{
	struct zinter_dup *d = arg;
	return zn.Comm_idup(d->parent->local->shadow, &d->local_shadow, r);
}

int zinter_dup_build(struct zsched *s, struct zinter_dup **out, struct zcomm_outcome *outcome, bool waits)
{
	struct zcomm *c = zsched_inter(s);
	struct zinter_dup *d = *out = zsched_alloc(s, sizeof *d);
	int rc = MPI_SUCCESS;
	if (!d)
		return MPI_ERR_NO_MEM;
	*d = (struct zinter_dup){.parent = c,
		.near = MPI_COMM_NULL,
		.local_shadow = MPI_COMM_NULL,
		.mine = c->local->rank == 0 ? (int64_t)zcomm_new_id() : 0};
	const struct zcomm_idup near = {.start = start_near,
		.arg = d,
		.over = c->near,
		.made = &d->near,
		.outcome = outcome,
		.members = c->nlocal,
		.waits = waits};
	const struct zcomm_idup local = {.start = start_local,
		.arg = d,
		.over = c->local->shadow,
		.made = &d->local_shadow,
		.outcome = outcome,
		.members = c->local->nlocal,
		.waits = waits};
	if (c->near != MPI_COMM_NULL)
		rc = zcomm_idup_add(s, &near);
	if (rc == MPI_SUCCESS && c->local->shadow != c->shadow)
		rc = zcomm_idup_add(s, &local);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zbcast_add(s, &d->mine, 1, MPI_INT64_T, 0);
	zsched_across(s, true);
	return rc == MPI_SUCCESS ? zacross_exchange(s, &d->mine, 1, &d->theirs, 1, MPI_INT64_T) : rc;
}

int zinter_dup_make(const struct zinter_dup *d, MPI_Comm handle)
{
	struct zcomm *c = d->parent;
	struct zcomm_inter i = {.shadow = handle,
		.near = d->near,
		.local_shadow = d->local_shadow == MPI_COMM_NULL ? handle : d->local_shadow,
		.id = (uint64_t)(c->first ? d->mine : d->theirs),
		.session = c->session,
		.fatal = c->fatal,
		.local = c->local->vrank,
		.nlocal = c->local->size,
		.remote = c->vrank,
		.nremote = c->size};
	return zcomm_create_inter(&i) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void zinter_dup_undo(struct zinter_dup *d, MPI_Comm handle)
{
	const bool owned = handle != MPI_COMM_NULL && zcomm_find(handle);
	zcomm_make_undo(handle);
	if (!owned && d->near != MPI_COMM_NULL)
		zn.Comm_free(&d->near);
	if (!owned && d->local_shadow != MPI_COMM_NULL)
		zn.Comm_free(&d->local_shadow);
}
