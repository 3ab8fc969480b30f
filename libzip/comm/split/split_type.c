/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type. All members tell each other the type first. By hardware, members that share a host, or a smaller
 * resource, are in one part, because a host belongs to one part: native MPI splits the members of each part. A
 * neighbourhood may span parts (nbhd.h).
 */
#include <mpi.h>
#include <stdlib.h>

#include "libzip/comm/comm_handler.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_native.h"
#include "libzip/comm/comm_split.h"
#include "libzip/comm/inter_split.h"
#include "libzip/comm/split/nbhd.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/world/handlers.h"
#include "libzip/world/world.h"

static const char name[] = "MPI_Comm_split_type";

/* The types of split. Their values depend on the MPI of each part. Behind OF_FAMILY: hardware of one family of MPIs. */
enum kind { LEFT_OUT, SHARED, GUIDED, UNGUIDED, RESOURCE, NEIGHBORHOOD, UNKNOWN, OF_FAMILY };

static enum kind kind_of(int split_type)
{
	if (split_type == MPI_UNDEFINED)
		return LEFT_OUT;
	if (split_type == MPI_COMM_TYPE_SHARED)
		return SHARED;
	if (zabi_is_own_split(split_type))
		return (enum kind)(OF_FAMILY + split_type);
	if (zrunning_is(ZVERSION_COMM_TYPE_HW_GUIDED, split_type))
		return GUIDED;
	if (zrunning_is(ZVERSION_COMM_TYPE_HW_UNGUIDED, split_type))
		return UNGUIDED;
	if (zrunning_is(ZVERSION_COMM_TYPE_RESOURCE_GUIDED, split_type))
		return RESOURCE;
	return zrunning_is(ZVERSION_COMM_TYPE_NEIGHBORHOOD, split_type) ? NEIGHBORHOOD : UNKNOWN;
}

/* A split, as one member sees it. */
struct split {
	struct zcomm *c;
	int type, key;
	MPI_Info info;
	enum kind kind; /* what all members name, but those that are left out */
	struct zcomm_outcome outcome;
};

/* All members come to the same kind and outcome. */
static void agree_on_kind(struct split *t, const int64_t (*said)[ZSAID_COUNT], int n)
{
	t->kind = LEFT_OUT;
	for (int r = 0; r < n; r++) {
		const enum kind theirs = (enum kind)said[r][ZSAID_COLOR];
		if (theirs == LEFT_OUT)
			continue;
		if (t->kind != LEFT_OUT && t->kind != theirs)
			zcomm_outcome_note(&t->outcome, MPI_ERR_ARG, "the processes name different types of split");
		t->kind = theirs;
	}
}

/* Has the info a process set to split by? */
static bool names_set(MPI_Info info)
{
	int length, flag = 0;

	return info != MPI_INFO_NULL && zn.Info_get_valuelen(info, "mpi_pset_name", &length, &flag) == MPI_SUCCESS &&
	       flag;
}

/* The members of my part by themselves, natively. */
static int split_part(struct split *t, int type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	const bool unguided = kind_of(type) == UNGUIDED;

	/* The native library knows the process sets of this part alone, and MPICH up to 5.0 splits by none. */
	if (kind_of(type) == RESOURCE && names_set(info)) {
		*newcomm = MPI_COMM_NULL;
		return MPI_SUCCESS;
	}
	/* The resource below the whole communicator, which has several hosts, is a host. The native library would look
	 * below the shadow, which may be on one host. */
	int rc = zn.Comm_split_type(t->c->shadow, unguided ? MPI_COMM_TYPE_SHARED : type, key, info, newcomm);
	if (rc == MPI_SUCCESS && unguided && info != MPI_INFO_NULL)
		rc = zn.Info_set(info, "mpi_hw_resource_type", "node"); /* MPICH's name for it */
	return rc;
}

/* The same, with errors noted. While the native call blocks, other threads go on. */
static MPI_Comm split_natively(struct split *t, int type, MPI_Info info)
{
	struct zhandlers_quiet quiet;
	MPI_Comm native = MPI_COMM_NULL;
	zhandlers_quiet_begin(&quiet, t->c->shadow, t->c->fatal);
	zshim_block_begin();
	int rc = split_part(t, type, t->key, info, &native);
	zshim_block_end();
	if (rc != MPI_SUCCESS)
		native = MPI_COMM_NULL;
	zhandlers_quiet_end(&quiet, native);
	zcomm_outcome_note_native(&t->outcome, rc, quiet.raises);
	return native;
}

/* The lowest vrank of a native communicator. */
static int lowest_of(MPI_Comm native, struct zcomm_outcome *o)
{
	int lowest = MPI_UNDEFINED;
	MPI_Group group;
	int rc = zn.Comm_group(native, &group);
	if (rc == MPI_SUCCESS)
		rc = zgroup_from_native(&group);
	const struct zgroup *g = rc == MPI_SUCCESS ? zgroup_find(group) : NULL;
	for (int i = 0; g && i < g->size; i++)
		if (lowest == MPI_UNDEFINED || g->vrank[i] < lowest)
			lowest = g->vrank[i];
	if (g)
		zip_Group_free(&group);
	zcomm_outcome_note_native(o, rc, false);
	return lowest;
}

/* Members of a part that stay together are known by their lowest vrank. */
static int find_color(struct split *t, int type, MPI_Info info)
{
	MPI_Comm native = split_natively(t, type, info);
	if (native == MPI_COMM_NULL)
		return MPI_UNDEFINED;
	const int lowest = lowest_of(native, &t->outcome);
	zn.Comm_free(&native);
	return lowest;
}

/* Exchanges what native MPI has made of a parent with a number (libzip/comm/internal/comm_unnumber.h). The new one has
 * the same members, error handler and hints. Other parts may have an MPICH without numbers, so this is between the
 * members in my part. */
static MPI_Comm unnumber(struct split *t, MPI_Comm numbered, MPI_Info info)
{
	MPI_Group members = MPI_GROUP_EMPTY;
	MPI_Comm made;
	if (numbered != MPI_COMM_NULL) {
		zcomm_outcome_note_native(&t->outcome, zn.Comm_group(numbered, &members), false);
		zn.Comm_free(&numbered);
	}
	const bool all = zcomm_meet_outcome(t->c->shadow, &t->outcome);
	zcomm_native_child(&members, t->c->id, all, &t->outcome, &made);
	if (made == MPI_COMM_NULL)
		return made;
	zhandlers_hush_home(); /* it has no handler yet */
	if (info != MPI_INFO_NULL)
		zcomm_outcome_note_native(&t->outcome, zn.Comm_set_info(made, info), false);
	zhandlers_unhush_home();
	zcomm_handler_pass(t->c, made);
	return made;
}

/* By what native MPI makes of each part. */
static MPI_Comm split_parts(struct split *t, MPI_Info info)
{
	if (!t->c->local) {
		MPI_Comm made = split_natively(t, t->type, info);
		if (t->c->numbered)
			made = unnumber(t, made, info);
		zcomm_outcome_agree(t->c, name, &t->outcome);
		return made;
	}
	const int color = find_color(t, t->type, info);
	zcomm_outcome_agree(t->c, name, &t->outcome);
	if (t->outcome.failure != 0)
		return MPI_COMM_NULL;
	return zinter_split_make(t->c, color, t->key, name, &t->outcome);
}

static MPI_Comm split_by_folder(struct split *t, const struct znbhd_heard *heard)
{
	int color = MPI_UNDEFINED;
	bool alone = false;
	if (!znbhd_folder(t->c, name, t->info, heard, &color, &alone, &t->outcome))
		return MPI_COMM_NULL;
	if (alone) {
		const int host =
			find_color(t, color == ZNBHD_ALONE ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, MPI_INFO_NULL);
		color = color == ZNBHD_ALONE ? host : color;
	}
	if (t->c->local)
		return zinter_split_make(t->c, color, t->key, name, &t->outcome);
	return zcomm_split(t->c, color, t->key, false, NULL, name, &t->outcome);
}

static MPI_Comm split_by_network(struct split *t)
{
	MPI_Info alone = MPI_INFO_NULL;
	zcomm_outcome_note_native(&t->outcome, znbhd_network(t->info, &alone), false);
	MPI_Comm made = split_parts(t, alone);
	if (alone != MPI_INFO_NULL)
		zn.Info_free(&alone);
	return made;
}

static MPI_Comm split_by_neighborhood(struct split *t, const struct znbhd_heard *heard)
{
	switch (znbhd_agreed(heard->said, heard->n, heard->color)) {
	case ZNBHD_FOLDER:
		return split_by_folder(t, heard);
	case ZNBHD_NETWORK:
		return split_by_network(t);
	case ZNBHD_NONE:
		break;
	}
	return MPI_COMM_NULL;
}

static int split_by_type(struct split *t, MPI_Comm *newcomm)
{
	const enum kind mine = kind_of(t->type);
	int64_t said[ZSAID_COUNT] = {0}, (*all)[ZSAID_COUNT];
	MPI_Comm made = MPI_COMM_NULL;
	int n;
	if (mine == NEIGHBORHOOD)
		znbhd_say(t->info, said);
	said[ZSAID_COLOR] = mine;
	*newcomm = MPI_COMM_NULL;
	if (!znbhd_hear(t->c, name, said, &all, &n, &t->outcome))
		return t->outcome.raised;
	const struct znbhd_heard heard = {.said = (const int64_t(*)[ZSAID_COUNT])all,
		.n = n,
		.color = NEIGHBORHOOD,
		.in = mine == NEIGHBORHOOD};
	agree_on_kind(t, heard.said, n);
	if (t->outcome.failure == 0 && t->kind == NEIGHBORHOOD)
		made = split_by_neighborhood(t, &heard);
	else if (t->outcome.failure == 0 && t->kind != LEFT_OUT)
		made = split_parts(t, t->info);
	free(all);
	return zcomm_make_end(made, t->c->handle, name, &t->outcome, newcomm);
}

int zip_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	struct split t = {.c = zcomm_find(comm), .type = split_type, .key = key, .info = info};
	zcomm_reap();
	if (t.c && kind_of(split_type) == UNKNOWN)
		return zerror_raise(t.c, MPI_ERR_ARG, name, "%d is no type of split", split_type);
	if (t.c)
		return split_by_type(&t, newcomm);
	int rc = zcomm_meet_local(comm);
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Comm_split_type(comm, split_type, key, info, newcomm);
	zshim_block_end();
	return rc;
}
