/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split, split_type and create. The members agree on the new communicator's id
 * and, in the same step, know that all of them have come; only then is a blocking native function
 * called on the shadow: it ends as soon as the other local members have called it too, whatever
 * happens on the bridge.
 */
#include "libzip/comm/commnew.h"

#include <stdlib.h>

#include "libzip/coll/allgather.h"
#include "libzip/coll/barrier.h"
#include "libzip/coll/base/coll.h"
#include "libzip/coll/base/coll_local.h"
#include "libzip/world/board.h"
#include "libzip/world/error.h"
#include "libzip/comm/inter.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo.h"

int zcommnew_meet(MPI_Comm local)
{
	MPI_Request r;
	if (zcoll_local_may_block(local))
		return MPI_SUCCESS;
	return zcoll_local_wait(zn.Ibarrier(local, &r), &r, local, "MPI_Ibarrier");
}

/* The local members, all of whom are here, learn the number of a board. */
static int meet_at_board(MPI_Comm native, int members, int me)
{
	int number = me == 0 ? zboard_claim(members) : -1;
	if (members < 2 || !zboard_are_there())
		return number;
	zshim_block_begin();
	zn.Bcast(&number, 1, MPI_INT, 0, native);
	zshim_block_end();
	return number;
}

int zcommnew_finish(const struct zcomm *parent, MPI_Comm native, uint64_t id, const int *vrank, int size, int board,
	MPI_Comm *newcomm)
{
	int members = 0, me = 0;
	for (int r = 0; r < size; r++)
		members += zworld_is_local(vrank[r]);
	*newcomm = native;
	if (members == size)
		return MPI_SUCCESS;
	zn.Comm_rank(native, &me);
	if (board == ZCOMMNEW_MEET)
		board = meet_at_board(native, members, me);
	struct zboard *b = zboard_join(board, members, me);
	struct zcomm *c = zcomm_create(native, native, id, vrank, size);
	if (c) {
		c->board = b;
		c->fatal = parent->fatal;
		if (c->fatal) /* MPI_Comm_create and MPI_Comm_create_group of MPICH 4.0.2 take no handler over */
			zn.Comm_set_errhandler(native, MPI_ERRORS_ARE_FATAL);
		return MPI_SUCCESS;
	}
	zboard_leave(b);
	*newcomm = MPI_COMM_NULL;
	zn.Comm_free(&native);
	return MPI_ERR_NO_MEM;
}

int zcommnew_hear(struct zcomm *c, const char *name, const struct zcoll_across *across, int n,
	const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT])
{
	*all = malloc((size_t)n * sizeof **all);
	if (!*all)
		return zerror_raise(c, MPI_ERR_NO_MEM, name, "out of memory");
	int rc = zcoll_run(c, &(struct zcoll){.name = name,
				      .build = zallgather_build,
				      .across = across,
				      .sendbuf = mine,
				      .sendcount = ZSAID_COUNT,
				      .sendtype = MPI_INT64_T,
				      .recvbuf = *all,
				      .recvcount = ZSAID_COUNT,
				      .recvtype = MPI_INT64_T});
	if (rc != MPI_SUCCESS)
		free(*all);
	return rc;
}

struct member {
	int64_t key;
	int rank; /* in the parent */
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

int zcommnew_select(const int64_t (*said)[ZSAID_COUNT], const int *of, int n, int64_t color, int *vrank, int64_t *id)
{
	struct member *members = malloc(((size_t)n + 1) * sizeof *members);
	int count = 0;
	if (!members)
		return -1;
	for (int r = 0; r < n; r++) {
		if (said[r][ZSAID_COLOR] == color)
			members[count++] = (struct member){.key = said[r][ZSAID_KEY], .rank = r};
	}
	qsort(members, (size_t)count, sizeof *members, compare_members);
	for (int i = 0; i < count; i++)
		vrank[i] = of[members[i].rank];
	if (count > 0)
		*id = said[members[0].rank][ZSAID_ID];
	free(members);
	return count;
}

/* In the native calls that block, other threads go on: one of them may be what another rank waits
 * for. */
static int native_split(MPI_Comm comm, int color, int key, MPI_Comm *native)
{
	zshim_block_begin();
	int rc = zn.Comm_split(comm, color, key, native);
	zshim_block_end();
	return rc;
}

/* The new communicator of those who said color: all that the native one lacks. */
static int finish_split(struct zcomm *c, const int64_t (*all)[ZSAID_COUNT], int color, struct ztopo *topo,
	MPI_Comm native, MPI_Comm *newcomm)
{
	int64_t id = 0;
	int *vrank = malloc((size_t)c->size * sizeof *vrank);
	int n = vrank ? zcommnew_select(all, c->vrank, c->size, color, vrank, &id) : -1;
	int rc = n > 0 ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS && topo)
		rc = ztopo_on_native(topo, vrank, n, &native);
	if (rc == MPI_SUCCESS)
		rc = zcommnew_finish(c, native, (uint64_t)id, vrank, n, ZCOMMNEW_MEET, newcomm);
	struct zcomm *made = rc == MPI_SUCCESS ? zcomm_find(*newcomm) : NULL;
	if (made)
		made->topo = ztopo_ref(topo);
	if (rc != MPI_SUCCESS)
		*newcomm = MPI_COMM_NULL; /* the native one may be gone */
	free(vrank);
	return rc;
}

int zcommnew_split(struct zcomm *c, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm)
{
	int64_t mine[ZSAID_COUNT] = {color, key, (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT];
	int rc = zcommnew_hear(c, name, NULL, c->size, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	/* The shadow is ordered by rank: the same keys give the same order of the local members. */
	MPI_Comm native = MPI_COMM_NULL;
	rc = native_split(c->shadow, color, key, &native);
	*newcomm = native;
	if (rc == MPI_SUCCESS && native != MPI_COMM_NULL)
		rc = zerror_raise(c, finish_split(c, (const int64_t(*)[ZSAID_COUNT])all, color, topo, native, newcomm),
			name, "out of memory");
	free(all);
	return rc;
}

int zip_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_split";
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (!c) {
		int rc = zcommnew_meet(comm);
		return rc == MPI_SUCCESS ? native_split(comm, color, key, newcomm) : rc;
	}
	return c->local ? zinter_split(c, color, key, newcomm, name)
			: zcommnew_split(c, color, key, NULL, name, newcomm);
}

int zip_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_split_type";
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	if (c && split_type == MPIX_COMM_TYPE_NEIGHBORHOOD)
		return zerror_raise(c, MPI_ERR_UNSUPPORTED_OPERATION, name,
			"not supported by neighbourhood on a communicator that spans clusters");
	if (c && split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_COMM_TYPE_HW_GUIDED &&
		split_type != MPI_COMM_TYPE_HW_UNGUIDED && split_type != MPI_UNDEFINED)
		return zerror_raise(c, MPI_ERR_ARG, name, "%d is no type of split", split_type);
	if (c && c->local)
		return zerror_raise(c, MPI_ERR_UNSUPPORTED_OPERATION, name,
			"not supported on an intercommunicator that spans clusters");
	int rc = c ? zbarrier_run(c) : zcommnew_meet(comm);
	if (rc != MPI_SUCCESS)
		return rc;
	/* A host belongs to one part: what shares one is local and stays native. */
	comm = c ? c->shadow : comm;
	zshim_block_begin();
	rc = zn.Comm_split_type(comm, split_type, key, info, newcomm);
	zshim_block_end();
	return rc;
}

static bool is_subset(const struct zcomm *c, const struct zgroup *g)
{
	for (int i = 0; i < g->size; i++) {
		if (zcomm_rank_of(c, g->vrank[i]) == MPI_UNDEFINED)
			return false;
	}
	return true;
}

int zcommnew_native_group(MPI_Comm comm, const struct zgroup *g, MPI_Group *native, const char *name)
{
	MPI_Group whole;
	int rc = zgroup_to_native(g, native);
	if (rc != MPI_SUCCESS)
		return zerror_raise_native(comm, rc, name, "the group cannot be used here");
	/* MPICH 4.0.2 crashes in MPI_Comm_create_group if the communicator was never asked for its
	 * group. */
	if (zn.Comm_group(comm, &whole) == MPI_SUCCESS)
		zn.Group_free(&whole);
	return MPI_SUCCESS;
}

/* The group's members in my part are all in the native one. */
static bool is_inside(const struct zgroup *g, MPI_Group whole)
{
	MPI_Group native, outside = MPI_GROUP_EMPTY;
	int n = -1;
	if (zgroup_to_native(g, &native) != MPI_SUCCESS)
		return false;
	if (zn.Group_difference(native, whole, &outside) == MPI_SUCCESS)
		zn.Group_size(outside, &n);
	if (native != MPI_GROUP_EMPTY)
		zn.Group_free(&native);
	if (outside != MPI_GROUP_EMPTY)
		zn.Group_free(&outside);
	return n == 0;
}

int zcommnew_check_group(MPI_Comm comm, const struct zgroup *g, const char *name)
{
	MPI_Group whole;
	int rc = zn.Comm_group(comm, &whole);
	if (rc != MPI_SUCCESS)
		return rc;
	bool inside = is_inside(g, whole);
	for (int i = 0; i < g->size; i++)
		inside &= zworld_is_local(g->vrank[i]);
	zn.Group_free(&whole);
	return inside ? MPI_SUCCESS
		      : zerror_raise_native(comm, MPI_ERR_GROUP, name,
				"the group is not a subset of the communicator's");
}

static int native_create(MPI_Comm comm, const struct zgroup *g, MPI_Comm *native)
{
	MPI_Group group;
	int rc = zcommnew_native_group(comm, g, &group, "MPI_Comm_create");
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
		int rc = zcommnew_check_group(comm, g, name);
		if (rc == MPI_SUCCESS)
			rc = zcommnew_meet(comm);
		return rc == MPI_SUCCESS ? native_create(comm, g, newcomm) : rc;
	}
	if (!is_subset(zcomm_own(c), g))
		return zerror_raise(c, MPI_ERR_GROUP, name, "the group is not a subset of the communicator's");
	if (c->local)
		return zinter_split(c, g->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, g->rank, newcomm, name);

	int64_t mine[ZSAID_COUNT] = {[ZSAID_ID] = (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT];
	MPI_Comm native = MPI_COMM_NULL;
	int rc = zcommnew_hear(c, name, NULL, c->size, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = native_create(c->shadow, g, &native);
	*newcomm = native;
	if (rc == MPI_SUCCESS && native != MPI_COMM_NULL) {
		int64_t id = all[zcomm_rank_of(c, g->vrank[0])][ZSAID_ID];
		rc = zerror_raise(c,
			zcommnew_finish(c, native, (uint64_t)id, g->vrank, g->size, ZCOMMNEW_MEET, newcomm), name,
			"out of memory");
	}
	free(all);
	return rc;
}
