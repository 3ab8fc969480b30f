/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split and split_type. The members agree on the new communicator's id and know, in the same step, that all of
 * them have come. Only then they call a blocking native function on the shadow: it ends as soon as the other local
 * members have called it, too, whatever happens on the bridge.
 */
#include "libzip/comm/comm_split.h"

#include <stdlib.h>

#include "libzip/coll/barrier.h"
#include "libzip/comm/comm_agree.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/inter_split.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/version.h"
#include "libzip/world/error.h"
#include "libzip/world/topo.h"

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

/* Makes the new communicator of the members that said color from the native one. */
static int finish_split(struct zcomm *c, const int64_t (*all)[ZSAID_COUNT], int color, struct ztopo *topo,
	MPI_Comm native, MPI_Comm *newcomm)
{
	int64_t id = 0;
	int *vrank = malloc((size_t)c->size * sizeof *vrank);
	int n = vrank ? zcomm_agree_select(all, c->vrank, c->size, color, vrank, &id) : -1;
	int rc = n > 0 ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS && topo)
		rc = ztopo_on_native(topo, vrank, n, &native);
	if (rc == MPI_SUCCESS)
		rc = zcomm_make(c, native, (uint64_t)id, vrank, n, ZCOMM_MAKE_MEET, newcomm);
	struct zcomm *made = rc == MPI_SUCCESS ? zcomm_find(*newcomm) : NULL;
	if (made)
		made->topo = ztopo_ref(topo);
	if (topo && topo->repeats)
		topo->orders = agreed_orders(all, c->size, color);
	if (rc != MPI_SUCCESS)
		*newcomm = MPI_COMM_NULL; /* the native one may be gone */
	free(vrank);
	return rc;
}

int zcomm_split(struct zcomm *c, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm)
{
	int64_t mine[ZSAID_COUNT] = {color, key, (int64_t)zcomm_new_id(), topo ? topo->orders : 0}, (*all)[ZSAID_COUNT];
	*newcomm = MPI_COMM_NULL;
	int rc = zcomm_agree_hear(c, name, NULL, c->size, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	/* The shadow is ordered by rank, so the same keys give the local members the same order. */
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
		int rc = zcomm_meet_local(comm);
		return rc == MPI_SUCCESS ? native_split(comm, color, key, newcomm) : rc;
	}
	return c->local ? zinter_split(c, color, key, newcomm, name) : zcomm_split(c, color, key, NULL, name, newcomm);
}

/* Has the info a process set to split by? */
static bool names_set(MPI_Info info)
{
	int length, flag = 0;

	return info != MPI_INFO_NULL && zn.Info_get_valuelen(info, "mpi_pset_name", &length, &flag) == MPI_SUCCESS &&
	       flag;
}

/* MPI_Comm_split_type of a spanning communicator, for the members of my part. A host belongs to one part, so members
 * that share a host, or a smaller resource, are local and stay native. */
static int split_part(struct zcomm *c, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	const bool unguided = zversion_is(ZVERSION_COMM_TYPE_HW_UNGUIDED, split_type);

	/* The native library knows the process sets of this part alone, and MPICH up to 5.0 splits by none. */
	if (zversion_is(ZVERSION_COMM_TYPE_RESOURCE_GUIDED, split_type) && names_set(info)) {
		*newcomm = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	/* The resource below the whole communicator, which has several hosts, is a host. The native library would look
	 * below the shadow, which may be on one host. */
	int rc = zn.Comm_split_type(c->shadow, unguided ? MPI_COMM_TYPE_SHARED : split_type, key, info, newcomm);
	if (rc == MPI_SUCCESS && unguided && info != MPI_INFO_NULL)
		rc = zn.Info_set(info, "mpi_hw_resource_type", "node"); /* MPICH's name for it */
	return rc;
}

static int check_split_type(const struct zcomm *c, int split_type, const char *name)
{
	if (c->local)
		return zerror_raise(c, MPI_ERR_UNSUPPORTED_OPERATION, name,
			"not supported on an intercommunicator that spans clusters");
	if (zversion_is(ZVERSION_COMM_TYPE_NEIGHBORHOOD, split_type))
		return zerror_raise(c, MPI_ERR_UNSUPPORTED_OPERATION, name,
			"not supported by neighbourhood on a communicator that spans clusters");
	if (split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED &&
		!zversion_is(ZVERSION_COMM_TYPE_HW_GUIDED, split_type) &&
		!zversion_is(ZVERSION_COMM_TYPE_HW_UNGUIDED, split_type) &&
		!zversion_is(ZVERSION_COMM_TYPE_RESOURCE_GUIDED, split_type))
		return zerror_raise(c, MPI_ERR_ARG, name, "%d is no type of split", split_type);
	return MPI_SUCCESS;
}

int zip_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	struct zcomm *c = zcomm_find(comm);
	zcomm_reap();
	int rc = c ? check_split_type(c, split_type, "MPI_Comm_split_type") : MPI_SUCCESS;
	if (rc != MPI_SUCCESS)
		return rc;
	if (c)
		*newcomm = MPI_COMM_NULL;
	rc = c ? zbarrier_run(c) : zcomm_meet_local(comm);
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = c ? split_part(c, split_type, key, info, newcomm)
	       : zn.Comm_split_type(comm, split_type, key, info, newcomm);
	zshim_block_end();
	return rc;
}
