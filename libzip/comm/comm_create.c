/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create, and MPI_Comm_create_group, which is collective over the group alone. The members agree on an id, and
 * know then that all of them have come. Only after that they call the native function, which blocks only until the
 * other local members have called it, too.
 */
#include <stdlib.h>

#include "libzip/coll/base/coll_local.h"
#include "libzip/comm/comm_agree.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_native.h"
#include "libzip/comm/inter_split.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"

static bool is_subset(const struct zcomm *c, const struct zgroup *g)
{
	for (int i = 0; i < g->size; i++) {
		if (zcomm_rank_of(c, g->vrank[i]) == MPI_UNDEFINED)
			return false;
	}
	return true;
}

static int native_create(MPI_Comm comm, const struct zgroup *g, MPI_Comm *native)
{
	MPI_Group group;
	int rc = zcomm_native_group(comm, g, &group, "MPI_Comm_create");
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Comm_create(comm, group, native);
	zshim_block_end();
	if (group != MPI_GROUP_EMPTY)
		zn.Group_free(&group);
	return rc;
}

int zip_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_create";
	struct zcomm *c = zcomm_find(comm);
	struct zgroup *g = zgroup_find(group);
	zcomm_reap();
	if (!g)
		return zerror_raise_native(comm, MPI_ERR_GROUP, name, "invalid group");
	if (!c) {
		int rc = zcomm_native_check(comm, g, name);
		if (rc == MPI_SUCCESS)
			rc = zcomm_meet_local(comm);
		return rc == MPI_SUCCESS ? native_create(comm, g, newcomm) : rc;
	}
	if (!is_subset(zcomm_own(c), g))
		return zerror_raise(c, MPI_ERR_GROUP, name, "the group is not a subset of the communicator's");
	if (c->local)
		return zinter_split(c, g->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, g->rank, newcomm, name);

	int64_t mine[ZSAID_COUNT] = {[ZSAID_ID] = (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT];
	MPI_Comm native = MPI_COMM_NULL;
	*newcomm = MPI_COMM_NULL;
	int rc = zcomm_agree_hear(c, name, NULL, c->size, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = native_create(c->shadow, g, &native);
	*newcomm = native;
	if (rc == MPI_SUCCESS && native != MPI_COMM_NULL) {
		int64_t id = all[zcomm_rank_of(c, g->vrank[0])][ZSAID_ID];
		rc = zerror_raise(c, zcomm_make(c, native, (uint64_t)id, g->vrank, g->size, ZCOMM_MAKE_MEET, newcomm),
			name, "out of memory");
	}
	free(all);
	return rc;
}

int zip_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_create_group";
	struct zcomm *c = zcomm_find(comm);
	struct zgroup *g = zgroup_find(group);
	MPI_Comm native = MPI_COMM_NULL;
	MPI_Group local;
	int64_t id = 0;
	zcomm_reap();
	if (!g)
		return zerror_raise_native(comm, MPI_ERR_GROUP, name, "invalid group");
	if (c && c->local)
		return zerror_raise(c, MPI_ERR_COMM, name, "this is an intercommunicator");
	if (tag < 0 && c)
		return zerror_raise(c, MPI_ERR_TAG, name, "the tag is negative");
	if (c && !is_subset(c, g))
		return zerror_raise(c, MPI_ERR_GROUP, name, "the group is not a subset of the communicator's");
	int rc = c ? MPI_SUCCESS : zcomm_native_check(comm, g, name);
	if (rc == MPI_SUCCESS)
		*newcomm = MPI_COMM_NULL;
	if (rc == MPI_SUCCESS && g->rank != MPI_UNDEFINED && (c || !zcoll_local_may_block(comm)))
		rc = zcomm_meet_new(c, g, tag, name, &id);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zcomm_native_group(c ? c->shadow : comm, g, &local, name);
	if (rc != MPI_SUCCESS)
		return rc;
	comm = c ? c->shadow : comm;
	zshim_block_begin(); /* other threads go on: another rank may wait for one of them */
	rc = zn.Comm_create_group(comm, local, tag, &native);
	zshim_block_end();
	if (local != MPI_GROUP_EMPTY)
		zn.Group_free(&local);
	*newcomm = native;
	if (rc == MPI_SUCCESS && native != MPI_COMM_NULL && c)
		rc = zerror_raise(c, zcomm_make(c, native, (uint64_t)id, g->vrank, g->size, ZCOMM_MAKE_MEET, newcomm),
			name, "out of memory");
	return rc;
}
