/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged world for sessions (MPI-4.0 section 11.3): the process sets mpi://WORLD and mpi://SELF, and communicators
 * of groups without a parent, whose parent is the world. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libzip/comm/comm_create.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/inter_make.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "libzip/world/handlers.h"
#include "common/base/hash.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/world/attached.h"
#include "libzip/world/world.h"

static bool is_world(const char *pset)
{
	return strcasecmp(pset, "mpi://WORLD") == 0;
}

/* Messages on communicators of the group use the session's buffer. */
static int belong(MPI_Group handle, MPI_Session session)
{
	struct zgroup *group = zgroup_find(handle);

	if (handle == MPI_GROUP_EMPTY || zrunning_version() < ZVERSION(4, 2, 0))
		return MPI_SUCCESS;
	group->session = zattached_of_session(session, true);
	return group->session ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* The native library raises errors of the arguments. */
int zip_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
	int rc = zn.Group_from_session_pset(session, pset_name, newgroup);

	if (rc != MPI_SUCCESS)
		return rc;
	if (is_world(pset_name)) {
		zn.Group_free(newgroup);
		rc = zip_Comm_group(MPI_COMM_WORLD, newgroup);
	} else {
		rc = zgroup_from_native(newgroup);
	}
	if (rc == MPI_SUCCESS)
		rc = belong(*newgroup, session);
	return rc == MPI_SUCCESS ? rc
				 : zerror_raise(NULL, rc, "MPI_Group_from_session_pset", "no such group can be made");
}

int zip_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
	char size[16];
	int rc = zn.Session_get_pset_info(session, pset_name, info);

	if (rc != MPI_SUCCESS || !is_world(pset_name))
		return rc;
	snprintf(size, sizeof(size), "%d", zworld.nranks);
	return zn.Info_set(*info, "mpi_size", size);
}

/* Overlapping groups that several threads make at the same time need different tags. All parts have the same one. */
static int tag_of(const char *text)
{
	return (int)(zhash32(ZHASH32, text, strlen(text)) % ZCOMM_INTERNAL_TAGS_MAX);
}

static int finish(MPI_Comm comm, MPI_Info info, MPI_Errhandler errhandler)
{
	const struct zcomm *c = zcomm_find(comm);
	int rc = info != MPI_INFO_NULL ? zn.Comm_set_info(c ? c->shadow : comm, info) : MPI_SUCCESS;

	return rc == MPI_SUCCESS ? zip_Comm_set_errhandler(comm, errhandler) : rc;
}

int zip_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
	MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_create_from_group";
	int rc;

	if (!stringtag || !newcomm)
		return zerror_raise(NULL, MPI_ERR_ARG, name, "a null pointer");
	*newcomm = MPI_COMM_NULL;
	rc = zcomm_create_group(MPI_COMM_WORLD, group, tag_of(stringtag), stringtag, name, newcomm);
	return rc == MPI_SUCCESS && *newcomm != MPI_COMM_NULL ? finish(*newcomm, info, errhandler) : rc;
}

/* The groups hear of each other whether their first step went well: a group without a communicator does not come to
 * the next one. */
static int agree(const struct zgroup *mine, const struct zgroup *theirs, const char *stringtag, const char *name,
	int rc, MPI_Comm *local)
{
	const struct zinter i = {mine->vrank, theirs->vrank, mine->size, theirs->size, 0, mine->session};
	struct zcomm_outcome outcome = {0};
	struct zgroup both;

	zcomm_outcome_note_native(&outcome, rc, true);
	zinter_make_group(&i, &both);
	if (!both.vrank)
		return zerror_raise(NULL, MPI_ERR_NO_MEM, name, "out of memory");
	zcomm_meet_agree(zcomm_world, &both, tag_of(stringtag), name, &outcome);
	free(both.vrank);
	if (outcome.failure != 0 && *local != MPI_COMM_NULL)
		zip_Comm_free(local);
	return zcomm_outcome_raise(zhandlers_home(), name, &outcome);
}

int zip_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
	const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
	static const char name[] = "MPI_Intercomm_create_from_groups";
	const struct zgroup *mine = zgroup_find(local_group), *remote = zgroup_find(remote_group);
	MPI_Comm local;
	int rc, peer;

	if (!stringtag || !newintercomm)
		return zerror_raise(NULL, MPI_ERR_ARG, name, "a null pointer");
	*newintercomm = MPI_COMM_NULL;
	if (!remote)
		return zerror_raise(NULL, MPI_ERR_GROUP, name, "invalid remote group");
	if (!mine || mine->rank == MPI_UNDEFINED)
		return zerror_raise(NULL, MPI_ERR_GROUP, name, "this process is not in the local group");
	if (remote_leader < 0 || remote_leader >= remote->size)
		return zerror_raise(NULL, MPI_ERR_RANK, name, "the remote group has no rank %d", remote_leader);
	peer = remote->vrank[remote_leader];
	rc = zip_Comm_create_from_group(local_group, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &local);
	rc = agree(mine, remote, stringtag, name, rc, &local);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zip_Intercomm_create(local, local_leader, MPI_COMM_WORLD, peer, tag_of(stringtag), newintercomm);
	zip_Comm_free(&local);
	return rc == MPI_SUCCESS ? finish(*newintercomm, info, errhandler) : rc;
}
