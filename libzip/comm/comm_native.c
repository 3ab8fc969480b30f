/* SPDX-License-Identifier: BSD-3-Clause */
/* Native groups and communicators of the members in my part. */
#include "libzip/comm/comm_native.h"

#include "libzip/comm/comm_internal.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/version.h"
#include "libzip/world/error.h"
#include "libzip/world/world.h"

int zcomm_native_group(MPI_Comm comm, const struct zgroup *g, MPI_Group *native)
{
	MPI_Group whole;
	int rc = zgroup_to_native(g, native);
	if (rc != MPI_SUCCESS)
		return rc;
	if (zversion_has_bug(ZVERSION_CREATE_GROUP) && zn.Comm_group(comm, &whole) == MPI_SUCCESS)
		zn.Group_free(&whole);
	return MPI_SUCCESS;
}

/* Are the group's members of my part all in this native group? */
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

int zcomm_native_check(MPI_Comm comm, const struct zgroup *g, const char *name)
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

int zcomm_native_create(const struct zgroup *g, uint64_t id, MPI_Comm *native)
{
	MPI_Group local;
	int tag;
	MPI_Comm internal = zcomm_internal(0, &tag);
	int rc = zcomm_native_group(internal, g, &local);
	*native = MPI_COMM_NULL;
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Comm_create_group(internal, local, zcomm_internal_mix(id, ZCOMM_INTERNAL_TAGS_MIN), native);
	zshim_block_end();
	if (local != MPI_GROUP_EMPTY)
		zn.Group_free(&local);
	if (rc != MPI_SUCCESS)
		*native = MPI_COMM_NULL;
	return rc;
}
