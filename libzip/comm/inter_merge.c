/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_merge. Each member says as its key whether its group goes behind the other one. */
#include <stdlib.h>
#include <string.h>

#include "libzip/comm/comm_handler.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_native.h"
#include "libzip/comm/inter_hear.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/world/world.h"

/* Do all members of a group give the same key? */
static bool agreed(const int64_t (*said)[ZSAID_COUNT], int n)
{
	for (int r = 1; r < n; r++) {
		if (said[r][ZSAID_KEY] != said[0][ZSAID_KEY])
			return false;
	}
	return true;
}

/* Puts the groups in order. The id is the one proposed by the group that is `first` (libzip/world/comm.h). */
static int order_merged(const struct zcomm *c, const int64_t (*said)[ZSAID_COUNT], struct zgroup *g, int64_t *id)
{
	int n = c->local->size, m = c->size;
	int64_t mine = said[0][ZSAID_KEY], theirs = said[n][ZSAID_KEY];
	bool before = mine != theirs ? mine < theirs : c->first;
	*g = (struct zgroup){.size = n + m, .vrank = malloc((size_t)(n + m) * sizeof(int)), .session = c->session};
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
	int64_t mine[ZSAID_COUNT] = {0, high != 0, (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT], id = 0;
	struct zgroup g;
	MPI_Comm native = MPI_COMM_NULL;
	struct zcomm_outcome outcome = {0};
	*newcomm = MPI_COMM_NULL;
	int rc = zinter_hear(c, name, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = order_merged(c, (const int64_t(*)[ZSAID_COUNT])all, &g, &id);
	free(all);
	zcomm_outcome_note(&outcome, rc,
		rc == MPI_ERR_ARG ? "the members of a group give different values for high" : "out of memory");
	if (rc == MPI_SUCCESS)
		zcomm_native_create(&g, (uint64_t)id, name, &outcome, &native);
	if (native != MPI_COMM_NULL)
		zcomm_outcome_note(&outcome, zcomm_make(c, native, (uint64_t)id, g.vrank, g.size), "out of memory");
	free(g.vrank);
	zcomm_outcome_agree(c, name, &outcome);
	rc = zcomm_make_end(native, c->handle, name, &outcome, newcomm);
	if (rc == MPI_SUCCESS)
		zcomm_handler_inherit(c->handle, *newcomm);
	return rc;
}

/* Children of MPI_Comm_spawn are not: they know nothing of our meetings. */
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
		rc = zcomm_meet_local(intercomm);
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Intercomm_merge(intercomm, high, newintracomm);
	zshim_block_end();
	return rc;
}
