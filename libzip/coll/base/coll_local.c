/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on local communicators. */
#include "libzip/coll/base/coll_local.h"

#include "libzip/p2p/completion.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

bool zcoll_local_may_block(MPI_Comm comm)
{
	int inter = 0, size = 0;
	if (!zworld.merged || comm == MPI_COMM_SELF || comm == MPI_COMM_NULL)
		return true;
	return zn.Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter && zn.Comm_size(comm, &size) == MPI_SUCCESS &&
	       size == 1;
}

int zcoll_local_wait(int rc, MPI_Request *request, MPI_Comm comm, const char *name)
{
	return rc == MPI_SUCCESS ? zcompletion_wait_native(request, MPI_STATUS_IGNORE, comm, name) : rc;
}
