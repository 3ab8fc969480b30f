/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split. The members agree on the new communicator's id and know, in the same step, that all of
 * them have come. Only then they call a blocking native function on the shadow, or on the internal communicator: it
 * ends as soon as the other local members have called it, too, whatever happens on the bridge.
 */
#include "libzip/comm/comm_split.h"

#include <stdlib.h>

#include "libzip/comm/comm_agree.h"
#include "libzip/comm/comm_handler.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_native.h"
#include "libzip/comm/inter_split.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/world/topo.h"
#include "libzip/world/world.h"

/* While native calls block, other threads go on: another rank may wait for one of them. */
static int native_split(MPI_Comm comm, int color, int key, MPI_Comm *native)
{
	zshim_block_begin();
	int rc = zn.Comm_split(comm, color, key, native);
	zshim_block_end();
	return rc;
}

/* The answer of the first member of the new communicator that has one, so that all of them have the same. */
static int agreed_orders(const int64_t (*all)[ZSAID_COUNT], int n, int color)
{
	for (int r = 0; r < n; r++)
		if (all[r][ZSAID_COLOR] == color && all[r][ZSAID_ORDERS] != 0)
			return (int)all[r][ZSAID_ORDERS];
	return 0;
}

/* A split, as one member sees it. */
struct split {
	struct zcomm *c;
	struct zcomm_outcome *outcome;
	int *vrank, n; /* the members that said my color, in their new order */
	int64_t id;
	MPI_Comm native;
};

static void split_natively(struct split *t, int color, int key)
{
	struct zhandlers_quiet quiet;
	zhandlers_quiet_begin(&quiet, t->c->shadow, t->c->fatal);
	int rc = native_split(t->c->shadow, color, key, &t->native);
	if (rc != MPI_SUCCESS)
		t->native = MPI_COMM_NULL;
	zhandlers_quiet_end(&quiet, t->native);
	zcomm_outcome_note_native(t->outcome, rc, quiet.raises);
}

/* Where the parent has a number. Members of no color need no group, but agree, too. */
static void split_by_group(struct split *t, int color)
{
	const struct zgroup g = {.vrank = t->vrank, .size = t->n};
	MPI_Group members = MPI_GROUP_EMPTY;
	if (color != MPI_UNDEFINED && t->outcome->failure == 0)
		zcomm_outcome_note_native(t->outcome, zcomm_native_members(&g, &members), false);
	const bool all = zcomm_meet_outcome(t->c->shadow, t->outcome);
	zcomm_native_child(&members, (uint64_t)t->id, all, t->outcome, &t->native);
	if (t->native != MPI_COMM_NULL)
		zcomm_handler_pass(t->c, t->native);
}

/* Exchanges the native communicator for one with a topology. */
static void add_topology(struct split *t, const struct ztopo *topo)
{
	struct zhandlers_quiet quiet;
	MPI_Comm plain = t->native;
	zhandlers_quiet_begin(&quiet, plain, t->c->fatal);
	int rc = ztopo_on_native(topo, t->vrank, t->n, plain, &t->native);
	zhandlers_quiet_end(&quiet, t->native);
	zcomm_outcome_note_native(t->outcome, rc, quiet.raises);
	zn.Comm_free(&plain);
}

static void make_entry(struct split *t, struct ztopo *topo)
{
	if (t->outcome->failure != 0)
		return;
	int rc = zcomm_make(t->c, t->native, (uint64_t)t->id, t->vrank, t->n);
	zcomm_outcome_note(t->outcome, rc, "out of memory");
	struct zcomm *made = rc == MPI_SUCCESS ? zcomm_find(t->native) : NULL;
	if (made)
		made->topo = ztopo_ref(topo);
}

/* A native function that makes a topology is called only if all members of the part have the communicator. So there is
 * an agreement in front of it, too. */
MPI_Comm zcomm_split(struct zcomm *c, int color, int key, bool with_topo, struct ztopo *topo, const char *name,
	struct zcomm_outcome *outcome)
{
	int64_t mine[ZSAID_COUNT] = {color, key, (int64_t)zcomm_new_id(), topo ? topo->orders : 0}, (*all)[ZSAID_COUNT];
	struct split t = {.c = c, .outcome = outcome, .native = MPI_COMM_NULL};
	int rc = zcomm_agree_hear(c, name, NULL, c->size, mine, &all);
	if (rc != MPI_SUCCESS) {
		zcomm_outcome_note(outcome, zerror_class(rc), "the members could not agree");
		outcome->raised = rc;
		return MPI_COMM_NULL;
	}
	t.vrank = malloc((size_t)c->size * sizeof *t.vrank);
	t.n = t.vrank ? zcomm_agree_select((const int64_t(*)[ZSAID_COUNT])all, c->vrank, c->size, color, t.vrank, &t.id)
		      : -1;
	if (topo && topo->repeats)
		topo->orders = agreed_orders((const int64_t(*)[ZSAID_COUNT])all, c->size, color);
	free(all);
	if (t.n < 0)
		zcomm_outcome_note(outcome, MPI_ERR_NO_MEM, "out of memory");
	if (c->numbered)
		split_by_group(&t, color);
	else /* the shadow is ordered by rank, so the same keys give the local members the same order */
		split_natively(&t, color, key);
	if (with_topo)
		zcomm_outcome_agree(c, name, outcome);
	const bool more = !with_topo || outcome->failure == 0; /* the same in all members */
	if (topo && t.native != MPI_COMM_NULL && outcome->failure == 0)
		add_topology(&t, topo);
	if (t.native != MPI_COMM_NULL)
		make_entry(&t, topo);
	free(t.vrank);
	if (more)
		zcomm_outcome_agree(c, name, outcome);
	return t.native;
}

static int split_spanning(struct zcomm *c, int color, int key, const char *name, MPI_Comm *newcomm)
{
	struct zcomm_outcome outcome = {0};
	MPI_Comm made = zcomm_split(c, color, key, false, NULL, name, &outcome);
	return zcomm_make_end(made, c->handle, name, &outcome, newcomm);
}

int zip_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_split";
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (!c) {
		int rc = zcomm_meet_local(comm);
		return rc == MPI_SUCCESS ? native_split(comm, color, key, newcomm) : rc;
	}
	return c->local ? zinter_split(c, color, key, newcomm, name) : split_spanning(c, color, key, name, newcomm);
}
