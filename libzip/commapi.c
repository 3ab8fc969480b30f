/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI functions that ask a communicator something, and its end. Making new ones is elsewhere. */
#include <stdbool.h>
#include <stdlib.h>

#include "comm.h"
#include "error.h"
#include "group.h"
#include "guard.h"
#include "shim.h"

int zip_Comm_rank(MPI_Comm handle, int *rank)
{
	struct zcomm *comm = zcomm_find(handle);

	if (!comm)
		return zn.Comm_rank(handle, rank);
	*rank = comm->rank;
	return MPI_SUCCESS;
}

int zip_Comm_size(MPI_Comm handle, int *size)
{
	struct zcomm *comm = zcomm_find(handle);

	if (!comm)
		return zn.Comm_size(handle, size);
	*size = comm->size;
	return MPI_SUCCESS;
}

int zip_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
	struct zcomm *a = zcomm_find(comm1), *b = zcomm_find(comm2);

	if (!a && !b)
		return zn.Comm_compare(comm1, comm2, result);
	if (!a || !b) {
		/* One spans and the other does not: never the same group. Let the native library check the handle. */
		int rank;
		int rc = zn.Comm_rank(a ? comm2 : comm1, &rank);
		*result = MPI_UNEQUAL;
		return rc;
	}
	*result = a == b ? MPI_IDENT : zgroup_compare(a->vrank, a->size, b->vrank, b->size);
	if (*result < 0)
		return zerror_raise(a, MPI_ERR_NO_MEM, "MPI_Comm_compare", "out of memory");
	if (a != b && *result == MPI_IDENT)
		*result = MPI_CONGRUENT;
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
	struct zcomm *comm = zcomm_find(handle);

	if (comm)
		return zerror_raise(comm, zgroup_create(comm->vrank, comm->size, group), "MPI_Comm_group",
			"out of memory");
	return adopt(zn.Comm_group(handle, group), handle, group, "MPI_Comm_group");
}

int zip_Comm_remote_group(MPI_Comm handle, MPI_Group *group)
{
	return adopt(zn.Comm_remote_group(handle, group), handle, group, "MPI_Comm_remote_group");
}

/* MPI_Comm_free and MPI_Comm_disconnect, which also waits until all that was started on it is complete: by the rules
 * of MPI the application has completed its requests before. */
static int end_comm(MPI_Comm *handle, int (*native)(MPI_Comm *), const char *function)
{
	struct zcomm *comm = zcomm_find(*handle);

	if (comm == zcomm_world && comm)
		return zerror_raise(comm, MPI_ERR_COMM, function, "MPI_COMM_WORLD cannot be freed");
	if (comm) {
		zcomm_drop(comm);
		*handle = MPI_COMM_NULL;
	}
	zcomm_reap();
	if (comm)
		return MPI_SUCCESS;
	zshim_callback_begin(); /* deletes attributes */
	int rc = native(handle);
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

/* Errors of native calls arise on the shadow, those of ours on the handle: the handler must stand at both. */
int zip_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler errhandler)
{
	struct zcomm *comm = zcomm_find(handle);
	int rc = zn.Comm_set_errhandler(comm ? comm->handle : handle, errhandler);

	if (rc == MPI_SUCCESS && comm && comm->shadow != comm->handle)
		rc = zn.Comm_set_errhandler(comm->shadow, errhandler);
	return rc;
}

int zip_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
	return zip_Comm_set_errhandler(comm, errhandler);
}
