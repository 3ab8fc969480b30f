/* SPDX-License-Identifier: BSD-3-Clause */
/* From two groups and an id to an intercommunicator. */
#include "libzip/comm/inter_make.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/comm/comm_handler.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_native.h"
#include "libzip/shim/shim.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/world/world.h"

static bool any_here(const int *vrank, int n)
{
	for (int i = 0; i < n; i++) {
		if (zworld_is_local(vrank[i]))
			return true;
	}
	return false;
}

/* Makes the native communicators of my part besides `all`, which is ordered by group. A native error code. */
static int split_groups(const struct zinter *i, MPI_Comm all, MPI_Comm *mine, MPI_Comm *near)
{
	*mine = all;
	*near = MPI_COMM_NULL;
	if (!any_here(i->theirs, i->ntheirs))
		return MPI_SUCCESS;
	zshim_block_begin();
	int rc = zn.Comm_split(all, i->mine[0] < i->theirs[0], 0, mine);
	if (rc != MPI_SUCCESS)
		*mine = all;
	else
		rc = zn.Comm_dup(all, near);
	zshim_block_end();
	return rc;
}

static int make_ours(const struct zinter *i, const struct zcomm *parent, MPI_Comm all, MPI_Comm *newcomm)
{
	MPI_Comm mine, near;
	int rc = split_groups(i, all, &mine, &near);
	struct zcomm_inter c = {.shadow = all,
		.near = near,
		.local_shadow = mine,
		.id = (uint64_t)i->id,
		.local = i->mine,
		.nlocal = i->nmine,
		.remote = i->theirs,
		.nremote = i->ntheirs,
		.fatal = parent && parent->fatal};
	if (rc == MPI_SUCCESS && !zcomm_create_inter(&c))
		rc = MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS) {
		*newcomm = all;
		return rc;
	}
	if (near != MPI_COMM_NULL)
		zn.Comm_free(&near);
	if (mine != all)
		zn.Comm_free(&mine);
	return rc;
}

/* The members of the first group, then those of the second. */
static int both_groups(const struct zinter *i, struct zgroup *both)
{
	bool first = i->mine[0] < i->theirs[0];
	int n = first ? i->nmine : i->ntheirs, m = first ? i->ntheirs : i->nmine;
	*both = (struct zgroup){.size = n + m, .rank = MPI_UNDEFINED};
	both->vrank = malloc((size_t)both->size * sizeof *both->vrank);
	if (!both->vrank)
		return MPI_ERR_NO_MEM;
	memcpy(both->vrank, first ? i->mine : i->theirs, (size_t)n * sizeof *both->vrank);
	memcpy(both->vrank + n, first ? i->theirs : i->mine, (size_t)m * sizeof *both->vrank);
	for (int r = 0; r < both->size; r++) {
		if (both->vrank[r] == zworld.vrank)
			both->rank = r;
	}
	return MPI_SUCCESS;
}

int zinter_make(const struct zinter *i, MPI_Comm parent, const char *name, MPI_Comm *newcomm)
{
	struct zgroup both;
	MPI_Comm all = MPI_COMM_NULL;
	*newcomm = MPI_COMM_NULL;
	int rc = both_groups(i, &both);
	if (rc == MPI_SUCCESS)
		rc = zcomm_meet_group(&both, (uint64_t)i->id, name);
	if (rc == MPI_SUCCESS)
		rc = zcomm_native_create(&both, (uint64_t)i->id, &all, name);
	free(both.vrank);
	if (rc == MPI_SUCCESS)
		rc = make_ours(i, zcomm_find(parent), all, newcomm);
	if (all != MPI_COMM_NULL && all != *newcomm)
		zn.Comm_free(&all);
	if (rc != MPI_SUCCESS)
		return zerror_raise_native(parent, rc, name, "cannot make the intercommunicator");
	zcomm_handler_inherit(parent, *newcomm);
	return MPI_SUCCESS;
}
