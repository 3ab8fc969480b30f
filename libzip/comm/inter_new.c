/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split, MPI_Comm_create and MPI_Comm_dup of intercommunicators, and MPI_Intercomm_merge. See inter.h. */
#include <stdlib.h>
#include <string.h>

#include "libzip/coll/across/across.h"
#include "libzip/coll/allgather.h"
#include "libzip/coll/bcast.h"
#include "libzip/comm/commnew.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/comm/inter.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

/* What all members of both groups say, the local one's before the remote one's: recvbuf. */
static int build_said(struct zsched *s, const struct zcoll *a)
{
	int64_t(*all)[ZSAID_COUNT] = a->recvbuf;
	int n = zsched_comm(s)->size, m = zsched_inter(s)->size;
	zsched_across(s, false);
	int rc = zallgather_build(s, a);
	zsched_across(s, true);
	if (rc == MPI_SUCCESS)
		rc = zacross_exchange(s, all, (MPI_Count)n * ZSAID_COUNT, all + n, (MPI_Count)m * ZSAID_COUNT,
			MPI_INT64_T);
	return rc;
}

static const struct zcoll_across said_across = {NULL, build_said};

static int hear_all(struct zcomm *c, const char *name, const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT])
{
	return zcommnew_hear(c, name, &said_across, c->local->size + c->size, mine, all);
}

/* My color's members of both groups; none in one of them: no intercommunicator. */
static int select_groups(const struct zcomm *c, const int64_t (*said)[ZSAID_COUNT], int color, struct zinter *i)
{
	int64_t id = 0, their_id = 0;
	i->mine = malloc((size_t)c->local->size * sizeof *i->mine);
	i->theirs = malloc((size_t)c->size * sizeof *i->theirs);
	if (!i->mine || !i->theirs)
		return MPI_ERR_NO_MEM;
	i->nmine = zcommnew_select(said, c->local->vrank, c->local->size, color, i->mine, &id);
	i->ntheirs = zcommnew_select(said + c->local->size, c->vrank, c->size, color, i->theirs, &their_id);
	if (i->nmine < 0 || i->ntheirs < 0)
		return MPI_ERR_NO_MEM;
	if (i->nmine > 0 && i->ntheirs > 0)
		i->id = i->mine[0] < i->theirs[0] ? id : their_id;
	return MPI_SUCCESS;
}

int zinter_split(struct zcomm *c, int color, int key, MPI_Comm *newcomm, const char *name)
{
	int64_t mine[ZSAID_COUNT] = {color, key, (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT];
	struct zinter i = {0};
	*newcomm = MPI_COMM_NULL;
	int rc = hear_all(c, name, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	if (color != MPI_UNDEFINED)
		rc = zerror_raise(c, select_groups(c, (const int64_t(*)[ZSAID_COUNT])all, color, &i), name,
			"out of memory");
	free(all);
	if (rc == MPI_SUCCESS && i.nmine > 0 && i.ntheirs > 0)
		rc = zinter_make(&i, c->handle, name, newcomm);
	zinter_free(&i);
	return rc;
}

/* Duplication */

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

int zinter_dup_build(struct zsched *s, struct zinter_dup **out)
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
	if (c->near != MPI_COMM_NULL)
		rc = zcommnew_add_idup(s, start_near, d, c->nlocal);
	if (rc == MPI_SUCCESS && c->local->shadow != c->shadow)
		rc = zcommnew_add_idup(s, start_local, d, c->local->nlocal);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zbcast_add(s, &d->mine, 1, MPI_INT64_T, 0);
	zsched_across(s, true);
	return rc == MPI_SUCCESS ? zacross_exchange(s, &d->mine, 1, &d->theirs, 1, MPI_INT64_T) : rc;
}

int zinter_dup_finish(struct zinter_dup *d, MPI_Comm handle, MPI_Comm *newcomm)
{
	struct zcomm *c = d->parent;
	struct zcomm_inter i = {.shadow = handle,
		.near = d->near,
		.local_shadow = d->local_shadow == MPI_COMM_NULL ? handle : d->local_shadow,
		.id = (uint64_t)(c->first ? d->mine : d->theirs),
		.fatal = c->fatal,
		.local = c->local->vrank,
		.nlocal = c->local->size,
		.remote = c->vrank,
		.nremote = c->size};
	*newcomm = handle;
	return zcomm_create_inter(&i) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Merging. What a member says: its key is whether its group goes behind. */

/* Everybody of a group says the same? */
static bool agreed(const int64_t (*said)[ZSAID_COUNT], int n)
{
	for (int r = 1; r < n; r++) {
		if (said[r][ZSAID_KEY] != said[0][ZSAID_KEY])
			return false;
	}
	return true;
}

/* Are the members of my group the first ones? The id to take is that of the group that is `first`. */
static int order_merged(const struct zcomm *c, const int64_t (*said)[ZSAID_COUNT], struct zgroup *g, int64_t *id)
{
	int n = c->local->size, m = c->size;
	int64_t mine = said[0][ZSAID_KEY], theirs = said[n][ZSAID_KEY];
	bool before = mine != theirs ? mine < theirs : c->first;
	*g = (struct zgroup){.size = n + m, .vrank = malloc((size_t)(n + m) * sizeof(int))};
	if (!g->vrank)
		return MPI_ERR_NO_MEM;
	memcpy(g->vrank + (before ? 0 : m), c->local->vrank, (size_t)n * sizeof(int));
	memcpy(g->vrank + (before ? n : 0), c->vrank, (size_t)m * sizeof(int));
	g->rank = c->local->rank + (before ? 0 : m);
	*id = said[c->first ? 0 : n][ZSAID_ID];
	return agreed(said, n) && agreed(said + n, m) ? MPI_SUCCESS : MPI_ERR_ARG;
}

static int merge(struct zcomm *c, int high, MPI_Comm *newcomm, const char *name)
{
	int64_t mine[ZSAID_COUNT] = {0, high != 0, (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT], id;
	struct zgroup g;
	MPI_Comm native;
	int rc = hear_all(c, name, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = order_merged(c, (const int64_t(*)[ZSAID_COUNT])all, &g, &id);
	free(all);
	if (rc == MPI_SUCCESS)
		rc = zcommnew_gather(&g, (uint64_t)id, name);
	if (rc == MPI_SUCCESS)
		rc = zcommnew_native(&g, (uint64_t)id, &native, name);
	if (rc == MPI_SUCCESS)
		rc = zcommnew_finish(c, native, (uint64_t)id, g.vrank, g.size, ZCOMMNEW_MEET, newcomm);
	free(g.vrank);
	if (rc != MPI_SUCCESS)
		return zerror_raise(c, rc, name,
			rc == MPI_ERR_ARG ? "the members of a group give different values for high" : "cannot merge");
	zinter_inherit(c->handle, *newcomm);
	return MPI_SUCCESS;
}

/* Children of MPI_Comm_spawn know nothing of our meetings. */
static bool is_of_this_world(MPI_Comm inter)
{
	MPI_Group group;
	if (zn.Comm_remote_group(inter, &group) != MPI_SUCCESS || zgroup_from_native(&group) != MPI_SUCCESS)
		return false;
	zip_Group_free(&group);
	return true;
}

int zip_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
	static const char name[] = "MPI_Intercomm_merge";
	struct zcomm *c = zcomm_find(intercomm);
	int inter = 0, rc = MPI_SUCCESS;
	zcomm_reap();
	if (c && c->local)
		return merge(c, high, newintracomm, name);
	if (intercomm != MPI_COMM_NULL && !c)
		rc = zn.Comm_test_inter(intercomm, &inter);
	if (rc == MPI_SUCCESS && !inter && intercomm != MPI_COMM_NULL) /* MPICH 4.0.2 crashes */
		return zerror_raise_native(intercomm, MPI_ERR_COMM, name, "not an intercommunicator");
	if (rc == MPI_SUCCESS && inter && is_of_this_world(intercomm))
		rc = zcommnew_meet(intercomm);
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Intercomm_merge(intercomm, high, newintracomm);
	zshim_block_end();
	return rc;
}
