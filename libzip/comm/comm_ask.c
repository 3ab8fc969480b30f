/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI functions that ask a communicator something, and those that free it. */
#include <stdbool.h>
#include <stdlib.h>

#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/world/guard.h"
#include "libzip/shim/shim.h"

int zip_Comm_rank(MPI_Comm handle, int *rank)
{
	struct zcomm *comm = zcomm_find(handle);

	if (!comm)
		return zn.Comm_rank(handle, rank);
	*rank = zcomm_own(comm)->rank;
	return MPI_SUCCESS;
}

int zip_Comm_size(MPI_Comm handle, int *size)
{
	struct zcomm *comm = zcomm_find(handle);

	if (!comm)
		return zn.Comm_size(handle, size);
	*size = zcomm_own(comm)->size;
	return MPI_SUCCESS;
}

/* MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL, or -1. */
static int compare_members(const struct zcomm *a, const struct zcomm *b)
{
	int result = zgroupset_compare(a->vrank, a->size, b->vrank, b->size);

	return result == MPI_IDENT ? MPI_CONGRUENT : result;
}

static int worse(int a, int b)
{
	_Static_assert(MPI_CONGRUENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL, "compared by number");
	return a < 0 || b < 0 ? -1 : a > b ? a : b;
}

int zip_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
	struct zcomm *a = zcomm_find(comm1), *b = zcomm_find(comm2);

	if (!a && !b)
		return zn.Comm_compare(comm1, comm2, result);
	if (!a || !b) {
		/* One spans and the other does not, so they differ. The native library checks the other handle. */
		int rank;
		int rc = zn.Comm_rank(a ? comm2 : comm1, &rank);
		*result = MPI_UNEQUAL;
		return rc;
	}
	*result = a == b		   ? MPI_IDENT
		  : !a->local != !b->local ? MPI_UNEQUAL
					   : compare_members(zcomm_own(a), zcomm_own(b));
	if (a != b && a->local && b->local)
		*result = worse(*result, compare_members(a, b)); /* their remote groups */
	if (*result < 0)
		return zerror_raise(a, MPI_ERR_NO_MEM, "MPI_Comm_compare", "out of memory");
	return MPI_SUCCESS;
}

int zip_Comm_test_inter(MPI_Comm handle, int *flag)
{
	struct zcomm *comm = zcomm_find(handle);

	if (!comm)
		return zn.Comm_test_inter(handle, flag);
	*flag = comm->local != NULL;
	return MPI_SUCCESS;
}

int zip_Comm_remote_size(MPI_Comm handle, int *size)
{
	struct zcomm *comm = zcomm_find(handle);

	if (!comm || !comm->local)
		return zn.Comm_remote_size(handle, size); /* an error for the handle of an intracommunicator */
	*size = comm->size;
	return MPI_SUCCESS;
}

static int adopt(int rc, MPI_Comm handle, MPI_Group *group, const char *function)
{
	if (rc != MPI_SUCCESS)
		return rc;
	return zerror_raise_native(handle, zgroup_from_native(group), function,
		"the group has processes outside this job");
}

int zip_Comm_group(MPI_Comm handle, MPI_Group *group)
{
	struct zcomm *comm = zcomm_find(handle), *own = comm ? zcomm_own(comm) : NULL;

	if (comm) {
		int rc = zgroup_create(own->vrank, own->size, comm->session, group);
		return zerror_raise(comm, rc, "MPI_Comm_group", "out of memory");
	}
	return adopt(zn.Comm_group(handle, group), handle, group, "MPI_Comm_group");
}

int zip_Comm_remote_group(MPI_Comm handle, MPI_Group *group)
{
	struct zcomm *comm = zcomm_find(handle);

	if (comm && comm->local)
		return zerror_raise(comm, zgroup_create(comm->vrank, comm->size, comm->session, group),
			"MPI_Comm_remote_group", "out of memory");
	return adopt(zn.Comm_remote_group(handle, group), handle, group, "MPI_Comm_remote_group");
}

/* MPI_Comm_free and MPI_Comm_disconnect. The latter also waits until all operations on the communicator are complete;
 * by the rules of MPI the application has completed them before. */
static int end_comm(MPI_Comm *handle, int (*native)(MPI_Comm *), const char *function)
{
	struct zcomm *comm = zcomm_find(*handle);

	if (comm == zcomm_world && comm)
		return zerror_raise(comm, MPI_ERR_COMM, function, "MPI_COMM_WORLD cannot be freed");
	if (comm) {
		zcomm_drop(comm);
		*handle = MPI_COMM_NULL;
	}
	int rc = zcomm_reap();
	if (comm)
		return rc;
	zshim_callback_begin(); /* deletes attributes */
	rc = native(handle);
	zshim_callback_end();
	return rc;
}

int zip_Comm_free(MPI_Comm *comm)
{
	return end_comm(comm, zn.Comm_free, "MPI_Comm_free");
}

int zip_Comm_disconnect(MPI_Comm *comm)
{
	return end_comm(comm, zn.Comm_disconnect, "MPI_Comm_disconnect");
}
