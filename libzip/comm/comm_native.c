/* SPDX-License-Identifier: BSD-3-Clause */
/* Native groups and communicators of the members in my part. */
#include "libzip/comm/comm_native.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libzip/comm/comm_internal.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/version.h"
#include "libzip/world/attached.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
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

int zcomm_native_group(MPI_Comm comm, const struct zgroup *g, MPI_Group *native)
{
	MPI_Group whole;
	int rc = zgroup_to_native(g, native);
	if (rc == MPI_SUCCESS && g->session && g->session->open && *native != MPI_GROUP_EMPTY) {
		rc = tie(g->session->session, native);
		if (rc != MPI_SUCCESS)
			zn.Group_free(native);
	}
	if (rc != MPI_SUCCESS)
		return rc;
	if (zversion_has_bug(ZVERSION_CREATE_GROUP) && zn.Comm_group(comm, &whole) == MPI_SUCCESS)
		zn.Group_free(&whole);
	return MPI_SUCCESS;
}

/* fatal: MPI_ERRORS_ARE_FATAL counts as a handler of its own. */
static void hand_on_handler(MPI_Comm from, MPI_Comm to, bool fatal)
{
	MPI_Errhandler handler;
	if (zn.Comm_get_errhandler(from, &handler) != MPI_SUCCESS)
		return;
	if (handler != MPI_ERRORS_ARE_FATAL || fatal)
		zn.Comm_set_errhandler(to, handler);
	if (!zhandlers_is_predefined(handler))
		zn.Errhandler_free(&handler);
}

/* Have all members two more communicators left? They agree. Another thread may still take them before they are used. */
static int ask_for_room(MPI_Comm comm)
{
	MPI_Comm first, second;
	int rc = zn.Comm_dup(comm, &first);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zn.Comm_dup(comm, &second);
	if (rc == MPI_SUCCESS)
		zn.Comm_free(&second);
	zn.Comm_free(&first);
	return rc;
}

/* Merges two halves into a communicator with the same order: the first member is one half, all others are the other.
 * Where there is no room for one half, MPI_Intercomm_create fails in that half, and waits for it in the other one. */
static int merge_halves(MPI_Comm comm, int rank, MPI_Comm *made)
{
	MPI_Comm half, halves;
	int rc = zn.Comm_split(comm, rank > 0, rank, &half);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = ask_for_room(comm);
	if (rc == MPI_SUCCESS)
		rc = zn.Intercomm_create(half, 0, comm, rank > 0 ? 0 : 1, 0, &halves);
	zn.Comm_free(&half);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zn.Intercomm_merge(halves, rank > 0, made);
	zn.Comm_free(&halves);
	return rc;
}

static int unnumber(MPI_Comm *comm, bool fatal)
{
	MPI_Comm made = MPI_COMM_NULL;
	int rank, size = 0;
	zn.Comm_size(*comm, &size);
	zn.Comm_rank(*comm, &rank);
	if (size < 2)
		return MPI_SUCCESS;
	int rc = merge_halves(*comm, rank, &made);
	if (rc == MPI_SUCCESS)
		hand_on_handler(*comm, made, fatal);
	else
		made = MPI_COMM_NULL;
	zn.Comm_free(comm);
	*comm = made;
	return rc;
}

int zcomm_native_unnumber(const struct zcomm *parent, int rc, MPI_Comm *made)
{
	return rc == MPI_SUCCESS && parent->numbered && *made != MPI_COMM_NULL ? unnumber(made, parent->fatal) : rc;
}

int zcomm_native_from_group(MPI_Comm comm, MPI_Group native, int tag, const char *stringtag, MPI_Comm *made)
{
	if (zversion_running() < ZVERSION(4, 2, 0))
		return zn.Comm_create_group(comm, native, tag, made);
	int rc = zn.Comm_create_from_group(native, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, made);
	return rc == MPI_SUCCESS && zversion_has_bug(ZVERSION_COMM_IDUP) ? unnumber(made, false) : rc;
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

int zcomm_native_create(const struct zgroup *g, uint64_t id, MPI_Comm *native)
{
	MPI_Group local;
	char stringtag[48];
	int tag;
	MPI_Comm internal = zcomm_internal(0, &tag);
	int rc = zcomm_native_group(internal, g, &local);
	*native = MPI_COMM_NULL;
	if (rc != MPI_SUCCESS)
		return rc;
	snprintf(stringtag, sizeof(stringtag), "zipper:%" PRIx64, id);
	zshim_block_begin();
	rc = zcomm_native_from_group(internal, local, zcomm_internal_mix(id, ZCOMM_INTERNAL_TAGS_MIN), stringtag,
		native);
	zshim_block_end();
	if (local != MPI_GROUP_EMPTY)
		zn.Group_free(&local);
	if (rc != MPI_SUCCESS)
		*native = MPI_COMM_NULL;
	return rc;
}
