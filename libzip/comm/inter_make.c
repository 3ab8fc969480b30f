/* SPDX-License-Identifier: BSD-3-Clause */
/* From two groups and an id to an intercommunicator. */
#include "libzip/comm/inter_make.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/comm/comm_handler.h"
#include "libzip/comm/comm_make.h"
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

/* Makes the native communicators of my part besides `all`, which is ordered by group. */
static void split_groups(const struct zinter *i, MPI_Comm all, MPI_Comm *mine, MPI_Comm *near, struct zcomm_outcome *o)
{
	*mine = all;
	*near = MPI_COMM_NULL;
	if (!any_here(i->theirs, i->ntheirs))
		return;
	zshim_block_begin();
	int split = zn.Comm_split(all, i->mine[0] < i->theirs[0], 0, mine);
	int dup = zn.Comm_dup(all, near); /* also where the split has failed: the others may be in there */
	zshim_block_end();
	if (split != MPI_SUCCESS)
		*mine = all;
	if (dup != MPI_SUCCESS)
		*near = MPI_COMM_NULL;
	zcomm_outcome_note_native(o, split, false);
	zcomm_outcome_note_native(o, dup, false);
}

/* Makes the entry, which owns all three communicators. */
static bool make_entry(const struct zinter *i, MPI_Comm parent, MPI_Comm all, struct zcomm_outcome *o)
{
	MPI_Comm mine, near;
	const struct zcomm *c = zcomm_find(parent);
	split_groups(i, all, &mine, &near, o);
	struct zcomm_inter entry = {.shadow = all,
		.near = near,
		.local_shadow = mine,
		.id = (uint64_t)i->id,
		.local = i->mine,
		.nlocal = i->nmine,
		.remote = i->theirs,
		.nremote = i->ntheirs,
		.session = i->session,
		.fatal = c && c->fatal};
	if (o->failure == 0 && zcomm_create_inter(&entry))
		return true;
	zcomm_outcome_note(o, MPI_ERR_NO_MEM, "out of memory");
	if (near != MPI_COMM_NULL)
		zn.Comm_free(&near);
	if (mine != all)
		zn.Comm_free(&mine);
	return false;
}

void zinter_make_group(const struct zinter *i, struct zgroup *both)
{
	bool first = i->mine[0] < i->theirs[0];
	int n = first ? i->nmine : i->ntheirs, m = first ? i->ntheirs : i->nmine;
	*both = (struct zgroup){.size = n + m, .rank = MPI_UNDEFINED, .session = i->session};
	both->vrank = malloc((size_t)both->size * sizeof *both->vrank);
	if (!both->vrank)
		return;
	memcpy(both->vrank, first ? i->mine : i->theirs, (size_t)n * sizeof *both->vrank);
	memcpy(both->vrank + n, first ? i->theirs : i->mine, (size_t)m * sizeof *both->vrank);
	for (int r = 0; r < both->size; r++) {
		if (both->vrank[r] == zworld.vrank)
			both->rank = r;
	}
}

MPI_Comm zinter_make(const struct zinter *i, MPI_Comm parent, const char *name, struct zcomm_outcome *o)
{
	struct zgroup both;
	MPI_Comm all = MPI_COMM_NULL;
	zinter_make_group(i, &both);
	if (!both.vrank) {
		zcomm_outcome_note(o, MPI_ERR_NO_MEM, "out of memory");
		return MPI_COMM_NULL;
	}
	zcomm_native_create(&both, (uint64_t)i->id, name, o, &all);
	if (any_here(i->theirs, i->ntheirs)) /* native functions on `all` follow, and all members must have it */
		zcomm_meet_agree_here(&both, (uint64_t)i->id, name, o);
	free(both.vrank);
	if (all != MPI_COMM_NULL && o->failure != 0)
		zn.Comm_free(&all);
	if (all != MPI_COMM_NULL && !make_entry(i, parent, all, o))
		zn.Comm_free(&all);
	if (all != MPI_COMM_NULL)
		zcomm_handler_inherit(parent, all);
	return all;
}

int zinter_make_end(const struct zinter *i, MPI_Comm made, MPI_Comm parent, const char *name, struct zcomm_outcome *o,
	MPI_Comm *newcomm)
{
	struct zgroup both;
	zinter_make_group(i, &both);
	if (both.vrank)
		zcomm_meet_agree(zcomm_world, &both, (int)(i->id >> 2 & INT32_MAX), name, o);
	else
		zcomm_outcome_note(o, MPI_ERR_NO_MEM, "out of memory");
	free(both.vrank);
	return zcomm_make_end(made, parent, name, o, newcomm);
}
