/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are not of this world, see foreign.h. */
#include "libzip/world/foreign.h"

#include "libzip/shim/shim.h"
#include "libzip/world/group.h"

static bool met;

void zforeign_meet(void)
{
	met = true;
}

bool zforeign_in_group(MPI_Group group)
{
	if (zgroup_from_native(&group) != MPI_SUCCESS)
		return true;
	zip_Group_free(&group);
	return false;
}

bool zforeign_in(MPI_Comm local)
{
	MPI_Group group;
	int inter = 0;

	if (!met || local == MPI_COMM_NULL || zn.Comm_group(local, &group) != MPI_SUCCESS)
		return false;
	if (zforeign_in_group(group))
		return true;
	return zn.Comm_test_inter(local, &inter) == MPI_SUCCESS && inter &&
	       zn.Comm_remote_group(local, &group) == MPI_SUCCESS && zforeign_in_group(group);
}
