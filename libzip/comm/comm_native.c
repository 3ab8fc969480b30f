/* SPDX-License-Identifier: BSD-3-Clause */
/* Native groups and communicators of the members in my part. */
#include "libzip/comm/comm_native.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libzip/comm/comm_meet.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/comm/internal/comm_unnumber.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/world/attached.h"
#include "libzip/world/error.h"
#include "libzip/world/world.h"

/* Replaces the native group by one that comes from the session, with the same members. */
static int tie(MPI_Session session, MPI_Group *group)
{
	MPI_Group world, tied = MPI_GROUP_NULL;
	int n = 0, rc = zn.Group_from_session_pset(session, "mpi://WORLD", &world);
	if (rc != MPI_SUCCESS)
		return rc;
	zn.Group_size(*group, &n);
	int *ranks = malloc(2 * ((size_t)n + 1) * sizeof(*ranks));
	if (ranks) {
		for (int i = 0; i < n; i++)
			ranks[i] = i;
		rc = zn.Group_translate_ranks(*group, n, ranks, world, ranks + n);
		if (rc == MPI_SUCCESS)
			rc = zn.Group_incl(world, n, ranks + n, &tied);
	} else {
		rc = MPI_ERR_NO_MEM;
	}
	free(ranks);
	zn.Group_free(&world);
	if (rc == MPI_SUCCESS) {
		zn.Group_free(group);
		*group = tied;
	}
	return rc;
}

static void ask_for_group(MPI_Comm comm)
{
	MPI_Group whole;
	if (zrunning_has_bug(ZVERSION_CREATE_GROUP) && zn.Comm_group(comm, &whole) == MPI_SUCCESS)
		zn.Group_free(&whole);
}

int zcomm_native_group(MPI_Comm comm, const struct zgroup *g, MPI_Group *native)
{
	int rc = zgroup_to_native(g, native);
	if (rc == MPI_SUCCESS && g->session && g->session->open && *native != MPI_GROUP_EMPTY) {
		rc = tie(g->session->session, native);
		if (rc != MPI_SUCCESS)
			zn.Group_free(native);
	}
	if (rc != MPI_SUCCESS)
		return rc;
	ask_for_group(comm);
	return MPI_SUCCESS;
}

int zcomm_native_from_group(MPI_Comm comm, MPI_Group native, int tag, const char *stringtag, MPI_Comm *made)
{
	if (zrunning_version() >= ZVERSION(4, 2, 0))
		return zn.Comm_create_from_group(native, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, made);
	int rc = zn.Comm_create_group(comm, native, tag, made);
	if (rc == MPI_SUCCESS && *made != MPI_COMM_NULL)
		zn.Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
	return rc;
}

/* Are the group's members of my part all in this native group? The native group has members of other worlds. */
static bool is_inside_native(const struct zgroup *g, MPI_Group whole)
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

/* The same by vranks: MPICH 5 compares no groups of different sessions. */
static bool is_inside(const struct zgroup *g, MPI_Group whole)
{
	const struct zgroup *all = zgroup_find(whole);
	int *outside = malloc(((size_t)g->size + (size_t)all->size + 1) * sizeof(*outside));
	const int n = outside ? zgroupset_difference(g->vrank, g->size, all->vrank, all->size, outside) : -1;
	free(outside);
	return n == 0;
}

int zcomm_native_check(MPI_Comm comm, const struct zgroup *g, const char *name)
{
	MPI_Group all;
	bool inside = false;
	int rc = zn.Comm_group(comm, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	if (zgroup_from_native(&all) == MPI_SUCCESS) {
		inside = is_inside(g, all);
		zip_Group_free(&all);
	} else if (zn.Comm_group(comm, &all) == MPI_SUCCESS) {
		inside = is_inside_native(g, all);
		zn.Group_free(&all);
	}
	for (int i = 0; i < g->size; i++)
		inside &= zworld_is_local(g->vrank[i]);
	return inside ? MPI_SUCCESS
		      : zerror_raise_native(comm, MPI_ERR_GROUP, name,
				"the group is not a subset of the communicator's");
}

static void end_group(MPI_Group *group)
{
	if (*group != MPI_GROUP_EMPTY)
		zn.Group_free(group);
}

int zcomm_native_members(const struct zgroup *g, MPI_Group *members)
{
	int rc = zgroup_to_native(g, members);
	if (rc != MPI_SUCCESS)
		*members = MPI_GROUP_EMPTY;
	return rc;
}

void zcomm_native_child(MPI_Group *members, uint64_t id, bool all, struct zcomm_outcome *o, MPI_Comm *native)
{
	int tag, rc = MPI_SUCCESS;
	const MPI_Comm internal = zcomm_internal(0, &tag);
	*native = MPI_COMM_NULL;
	if (all && *members != MPI_GROUP_EMPTY) {
		ask_for_group(internal);
		zshim_block_begin();
		rc = zn.Comm_create_group(internal, *members, zcomm_internal_mix(id, zcomm_internal_tags()), native);
		zshim_block_end();
	}
	if (rc != MPI_SUCCESS)
		*native = MPI_COMM_NULL;
	zcomm_outcome_note_native(o, rc, false);
	end_group(members);
}

void zcomm_native_settle(const struct zgroup *g, uint64_t id, const char *name, struct zcomm_outcome *o,
	MPI_Comm *native)
{
	if (!zrunning_has_bug(ZVERSION_COMM_IDUP))
		return;
	zcomm_meet_agree_here(g, id, name, o);
	if (o->failure != 0 || *native == MPI_COMM_NULL)
		return;
	zshim_block_begin();
	int rc = zcomm_unnumber(native);
	zshim_block_end();
	zcomm_outcome_note_native(o, rc, false);
}

static int create_from_group(const struct zgroup *g, uint64_t id, MPI_Comm *native)
{
	MPI_Group local;
	char stringtag[48];
	int tag;
	const MPI_Comm internal = zcomm_internal(0, &tag);
	int rc = zcomm_native_group(internal, g, &local);
	if (rc != MPI_SUCCESS)
		return rc;
	snprintf(stringtag, sizeof(stringtag), "zipper:%" PRIx64, id);
	zshim_block_begin();
	rc = zcomm_native_from_group(internal, local, zcomm_internal_mix(id, ZCOMM_INTERNAL_TAGS_MIN), stringtag,
		native);
	zshim_block_end();
	end_group(&local);
	if (rc != MPI_SUCCESS)
		*native = MPI_COMM_NULL;
	return rc;
}

void zcomm_native_create(const struct zgroup *g, uint64_t id, const char *name, struct zcomm_outcome *o,
	MPI_Comm *native)
{
	*native = MPI_COMM_NULL;
	int rc = zcomm_meet_group(g, id, name);
	if (rc == MPI_SUCCESS)
		rc = create_from_group(g, id, native);
	zcomm_outcome_note_native(o, rc, false);
	zcomm_native_settle(g, id, name, o, native);
}
