/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create, and MPI_Comm_create_group, which is collective over the group alone. The members agree on an id, and
 * know then that all of them have come. Only after that they call the native function, which blocks only until the
 * other local members have called it, too.
 */
#include "libzip/comm/comm_create.h"

#include <stdlib.h>

#include "libzip/coll/base/coll_local.h"
#include "libzip/comm/comm_agree.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_native.h"
#include "libzip/comm/inter_split.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"

static bool is_subset(const struct zcomm *c, const struct zgroup *g)
{
	for (int i = 0; i < g->size; i++) {
		if (zcomm_rank_of(c, g->vrank[i]) == MPI_UNDEFINED)
			return false;
	}
	return true;
}

/* The native communicator of those members of the group that are in my part. On the shadow of a spanning parent the
 * caller raises the error, when all parts have agreed. */
static int native_create(MPI_Comm comm, const struct zgroup *g, MPI_Comm *native)
{
	MPI_Group group;
	const int without = zcomm_native_group(comm, g, &group);
	if (without != MPI_SUCCESS) /* the other members do not wait for this one then, and hear of it at the end */
		group = MPI_GROUP_EMPTY;
	zshim_block_begin();
	int rc = zn.Comm_create(comm, group, native);
	zshim_block_end();
	if (group != MPI_GROUP_EMPTY)
		zn.Group_free(&group);
	return without != MPI_SUCCESS ? without : rc;
}

static int native_create_group(MPI_Comm comm, const struct zgroup *g, int tag, const char *stringtag, MPI_Comm *native)
{
	MPI_Group group;
	int rc = zcomm_native_group(comm, g, &group);
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin(); /* other threads go on: another rank may wait for one of them */
	rc = stringtag ? zcomm_native_from_group(comm, group, tag, stringtag, native)
		       : zn.Comm_create_group(comm, group, tag, native);
	zshim_block_end();
	if (group != MPI_GROUP_EMPTY)
		zn.Group_free(&group);
	return rc;
}

/* An error of zcomm_native_group is a class, which nobody has raised. */
static int raise_class(MPI_Comm comm, int rc, const char *name)
{
	return rc == zerror_class(rc) ? zerror_raise_native(comm, rc, name, "the group cannot be used here") : rc;
}

/* The result of a native call on the shadow of a spanning parent, whose error is noted. */
static MPI_Comm take_native(struct zhandlers_quiet *quiet, int rc, MPI_Comm native, struct zcomm_outcome *o)
{
	zhandlers_quiet_end(quiet, MPI_COMM_NULL);
	zcomm_outcome_note_native(o, rc, quiet->raises);
	return rc == MPI_SUCCESS ? native : MPI_COMM_NULL;
}

static void make_entry(struct zcomm *c, const struct zgroup *g, int64_t id, MPI_Comm native, struct zcomm_outcome *o)
{
	if (native != MPI_COMM_NULL)
		zcomm_outcome_note(o, zcomm_make(c, native, (uint64_t)id, g->vrank, g->size), "out of memory");
}

static MPI_Comm create_on(struct zcomm *c, const struct zgroup *g, struct zcomm_outcome *o)
{
	struct zhandlers_quiet quiet;
	MPI_Comm native = MPI_COMM_NULL;
	zhandlers_quiet_begin(&quiet, c->shadow, c->fatal);
	int rc = native_create(c->shadow, g, &native);
	return take_native(&quiet, rc, native, o);
}

/* Where the parent has a number. */
static MPI_Comm create_child(const struct zcomm *c, const struct zgroup *g, int64_t id, struct zcomm_outcome *o)
{
	MPI_Comm native;
	MPI_Group members = MPI_GROUP_EMPTY;
	if (g->rank != MPI_UNDEFINED)
		zcomm_outcome_note_native(o, zcomm_native_members(g, &members), false);
	const bool all = zcomm_meet_outcome(c->shadow, o);
	zcomm_native_child(&members, (uint64_t)id, all, o, &native);
	return native;
}

static MPI_Comm create_group_child(const struct zgroup *g, int64_t id, const char *name, struct zcomm_outcome *o)
{
	MPI_Comm native;
	MPI_Group members;
	zcomm_outcome_note_native(o, zcomm_native_members(g, &members), false);
	zcomm_meet_agree_here(g, (uint64_t)id, name, o);
	zcomm_native_child(&members, (uint64_t)id, o->failure == 0, o, &native);
	return native;
}

static MPI_Comm create_group_on(struct zcomm *c, const struct zgroup *g, int tag, const char *stringtag,
	struct zcomm_outcome *o)
{
	struct zhandlers_quiet quiet;
	MPI_Comm native = MPI_COMM_NULL;
	zhandlers_quiet_begin(&quiet, c->shadow, c->fatal);
	int rc = native_create_group(c->shadow, g, tag, stringtag, &native);
	return take_native(&quiet, rc, native, o);
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
		return rc == MPI_SUCCESS ? raise_class(comm, native_create(comm, g, newcomm), name) : rc;
	}
	if (!is_subset(zcomm_own(c), g))
		return zerror_raise(c, MPI_ERR_GROUP, name, "the group is not a subset of the communicator's");
	if (c->local)
		return zinter_split(c, g->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, g->rank, newcomm, name);

	int64_t mine[ZSAID_COUNT] = {[ZSAID_ID] = (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT];
	struct zcomm_outcome outcome = {0};
	*newcomm = MPI_COMM_NULL;
	int rc = zcomm_agree_hear(c, name, NULL, c->size, mine, &all);
	if (rc != MPI_SUCCESS)
		return rc;
	const int64_t id = g->size > 0 ? all[zcomm_rank_of(c, g->vrank[0])][ZSAID_ID] : 0;
	free(all);
	const MPI_Comm native = c->numbered ? create_child(c, g, id, &outcome) : create_on(c, g, &outcome);
	make_entry(c, g, id, native, &outcome);
	zcomm_outcome_agree(c, name, &outcome);
	return zcomm_make_end(native, comm, name, &outcome, newcomm);
}

/* Among the members of the group alone. */
static int create_spanning(struct zcomm *c, const struct zgroup *g, int tag, const char *stringtag, const char *name,
	MPI_Comm *newcomm)
{
	struct zcomm_outcome outcome = {0};
	int64_t id = 0;
	int rc = zcomm_meet_new(c, g, tag, name, &id);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Comm native = c->numbered && !stringtag ? create_group_child(g, id, name, &outcome)
						    : create_group_on(c, g, tag, stringtag, &outcome);
	if (stringtag)
		zcomm_native_settle(g, (uint64_t)id, name, &outcome, &native);
	make_entry(c, g, id, native, &outcome);
	struct zcomm *made = stringtag && native != MPI_COMM_NULL ? zcomm_find(native) : NULL;
	if (made)
		made->session = g->session;
	zcomm_meet_agree(c, g, tag, name, &outcome);
	return zcomm_make_end(native, c->handle, name, &outcome, newcomm);
}

int zcomm_create_group(MPI_Comm comm, MPI_Group group, int tag, const char *stringtag, const char *name,
	MPI_Comm *newcomm)
{
	struct zcomm *c = zcomm_find(comm);
	struct zgroup *g = zgroup_find(group);
	int64_t id;
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
	if (rc != MPI_SUCCESS)
		return rc;
	*newcomm = MPI_COMM_NULL;
	if (c)
		return g->rank == MPI_UNDEFINED ? MPI_SUCCESS : create_spanning(c, g, tag, stringtag, name, newcomm);
	if (g->rank != MPI_UNDEFINED && !zcoll_local_may_block(comm))
		rc = zcomm_meet_new(NULL, g, tag, name, &id);
	return rc == MPI_SUCCESS ? raise_class(comm, native_create_group(comm, g, tag, NULL, newcomm), name) : rc;
}

int zip_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	return zcomm_create_group(comm, group, tag, NULL, "MPI_Comm_create_group", newcomm);
}
