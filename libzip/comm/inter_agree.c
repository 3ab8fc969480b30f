/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of MPI_Intercomm_create. The two leaders tell each other their groups and an id; the id of the leader
 * with the lower vrank counts. Then each leader tells its local group, whose members have come when they hear it. The
 * leaders speak natively, on a communicator of ours, where they are in one part. Else they speak over the bridge on the
 * peer communicator, where such messages are a kind of their own.
 */
#include "libzip/comm/inter_agree.h"

#include <stdlib.h>

#include "libzip/abi/abi.h"
#include "libzip/coll/base/coll_local.h"
#include "libzip/coll/bcast.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/schedule/engine.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/foreign.h"
#include "libzip/world/group.h"
#include "libzip/world/world.h"

/* The first message between leaders, and then from leaders to their groups. verdict is MPI_SUCCESS, ZINTER_NATIVE or an
 * error class' number between parts. */
enum { HEAD_VERDICT, HEAD_SIZE, HEAD_ID, HEAD_COUNT };

struct exchange {
	struct zcomm *peer; /* NULL: the leaders speak natively */
	int remote_leader;  /* rank in peer */
	MPI_Comm native;
	int lrank, tag; /* on native */
	int64_t mine[HEAD_COUNT], theirs[HEAD_COUNT];
	struct zinter *groups;
};

struct message {
	const struct exchange *x;
	void *buf;
	int count;
	MPI_Datatype type;
};

static int start_send(void *arg, MPI_Request *r)
{
	const struct message *m = arg;
	return zn.Isend(m->buf, m->count, m->type, m->x->lrank, m->x->tag, m->x->native, r);
}

static int start_recv(void *arg, MPI_Request *r)
{
	const struct message *m = arg;
	return zn.Irecv(m->buf, m->count, m->type, m->x->lrank, m->x->tag, m->x->native, r);
}

static int swap(struct zsched *s, const struct exchange *x, void *mine, int nmine, void *theirs, int ntheirs,
	MPI_Datatype type)
{
	if (x->peer) {
		int rc = zstep_recv(s, theirs, ntheirs, type, x->remote_leader);
		return rc == MPI_SUCCESS ? zstep_send(s, mine, nmine, type, x->remote_leader) : rc;
	}
	struct message *m = zsched_alloc(s, 2 * sizeof *m);
	if (!m)
		return MPI_ERR_NO_MEM;
	m[0] = (struct message){x, theirs, ntheirs, type};
	m[1] = (struct message){x, mine, nmine, type};
	int rc = zstep_native(s, start_recv, &m[0]);
	return rc == MPI_SUCCESS ? zstep_native(s, start_send, &m[1]) : rc;
}

/* The sizes are known: now the groups themselves. */
static int swap_groups(struct zsched *s, void *arg)
{
	struct exchange *x = arg;
	struct zinter *i = x->groups;
	if (zsched_failed(s))
		return MPI_SUCCESS;
	if (x->theirs[HEAD_SIZE] < 1 || x->theirs[HEAD_SIZE] > zworld.nranks)
		return MPI_ERR_OTHER;
	i->ntheirs = (int)x->theirs[HEAD_SIZE];
	i->theirs = malloc((size_t)i->ntheirs * sizeof *i->theirs);
	return i->theirs ? swap(s, x, i->mine, i->nmine, i->theirs, i->ntheirs, MPI_INT) : MPI_ERR_NO_MEM;
}

static bool overlap(const struct zinter *i)
{
	for (int a = 0; a < i->nmine; a++) {
		for (int b = 0; b < i->ntheirs; b++) {
			if (i->mine[a] == i->theirs[b])
				return true;
		}
	}
	return false;
}

/* Does the other leader's list make sense? */
static int judge(const struct exchange *x)
{
	for (int r = 0; r < x->groups->ntheirs; r++) {
		if (x->groups->theirs[r] < 0 || x->groups->theirs[r] >= zworld.nranks)
			return MPI_ERR_OTHER;
	}
	return overlap(x->groups) ? MPI_ERR_COMM : MPI_SUCCESS;
}

static int swap_leaders(struct exchange *x, int tag, const char *name)
{
	struct zsched *s = zsched_create(x->peer ? x->peer : zcomm_world, name);
	if (!s)
		return MPI_ERR_NO_MEM;
	zsched_detach(s, ZCOMM_LEADERS, tag);
	zsched_across(s, x->peer != NULL);
	int rc = swap(s, x, x->mine, HEAD_COUNT, x->theirs, HEAD_COUNT, MPI_INT64_T);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, swap_groups, x);
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return rc;
	}
	rc = zengine_run(s);
	return rc == MPI_SUCCESS ? judge(x) : rc;
}

/* The vrank of a rank that calls on this communicator name. MPI_SUCCESS, an error class, or ZINTER_NATIVE. */
static int find_vrank(MPI_Comm comm, int rank, int *vrank)
{
	struct zcomm *c = zcomm_find(comm);
	MPI_Group group = MPI_GROUP_NULL;
	int inter = 0, rc = MPI_SUCCESS;
	if (c) {
		if (rank < 0 || rank >= c->size)
			return MPI_ERR_RANK;
		*vrank = c->vrank[rank];
		return MPI_SUCCESS;
	}
	if (comm == MPI_COMM_NULL || zn.Comm_test_inter(comm, &inter) != MPI_SUCCESS)
		return MPI_ERR_COMM;
	rc = inter ? zn.Comm_remote_group(comm, &group) : zn.Comm_group(comm, &group);
	if (rc == MPI_SUCCESS)
		rc = zgroup_from_native(&group);
	if (rc == MPI_ERR_UNSUPPORTED_OPERATION)
		return ZINTER_NATIVE;
	struct zgroup *g = rc == MPI_SUCCESS ? zgroup_find(group) : NULL;
	if (!g)
		return MPI_ERR_COMM;
	rc = rank >= 0 && rank < g->size ? MPI_SUCCESS : MPI_ERR_RANK;
	if (rc == MPI_SUCCESS)
		*vrank = g->vrank[rank];
	zip_Group_free(&group);
	return rc;
}

/* In a leader: agrees with the other leader, and fills the head for its group. */
static void lead(struct zinter *i, MPI_Comm peer_comm, int remote_leader, int tag, const char *name, int64_t *head)
{
	struct exchange x = {.peer = zcomm_find(peer_comm), .remote_leader = remote_leader, .groups = i};
	int vrank = -1, rc = find_vrank(peer_comm, remote_leader, &vrank);
	if (rc == MPI_SUCCESS && vrank == zworld.vrank)
		rc = MPI_ERR_RANK;
	x.mine[HEAD_SIZE] = i->nmine;
	x.mine[HEAD_ID] = (int64_t)zcomm_new_id();
	if (rc == MPI_SUCCESS) {
		if (zworld_is_local(vrank)) {
			x.peer = NULL;
			x.lrank = (int)zworld.place[vrank].lrank;
			x.native = zcomm_internal(tag, &x.tag);
		}
		rc = swap_leaders(&x, tag, name);
	}
	head[HEAD_VERDICT] = rc == ZINTER_NATIVE ? rc : zabi_class_number(zerror_class(rc));
	head[HEAD_SIZE] = i->ntheirs;
	head[HEAD_ID] = zworld.vrank < vrank ? x.mine[HEAD_ID] : x.theirs[HEAD_ID];
}

/* The members of an intracommunicator. MPI_ERR_COMM: it is none. */
static int own_group(MPI_Comm comm, struct zinter *i)
{
	struct zcomm *c = zcomm_find(comm);
	MPI_Group group;
	int inter = c && c->local, rc = c ? MPI_SUCCESS : zn.Comm_test_inter(comm, &inter);
	if (rc != MPI_SUCCESS || inter)
		return MPI_ERR_COMM;
	rc = zip_Comm_group(comm, &group);
	struct zgroup *g = rc == MPI_SUCCESS ? zgroup_find(group) : NULL;
	if (!g)
		return MPI_ERR_COMM;
	i->nmine = g->size;
	i->session = g->session;
	i->mine = malloc(((size_t)g->size + 1) * sizeof *i->mine);
	for (int r = 0; r < g->size && i->mine; r++)
		i->mine[r] = g->vrank[r];
	zip_Group_free(&group);
	return i->mine ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int tell(MPI_Comm comm, const char *name, void *buf, int count, MPI_Datatype type, int leader)
{
	struct zcomm *c = zcomm_find(comm);
	MPI_Request r;
	if (c)
		return zbcast_run(c, name, buf, count, type, leader);
	if (zcoll_local_may_block(comm))
		return MPI_SUCCESS;
	return zcoll_local_wait(zn.Ibcast(buf, count, type, leader, comm, &r), &r, comm, name);
}

/* Is a member not of this world? */
static bool is_foreign(MPI_Comm comm)
{
	MPI_Group group;
	if (zcomm_find(comm) || zn.Comm_group(comm, &group) != MPI_SUCCESS)
		return false;
	return zforeign_in_group(group);
}

static const char *verdict_text(int class)
{
	return class == MPI_ERR_COMM   ? "the groups overlap, or a communicator is not valid"
	       : class == MPI_ERR_RANK ? "the remote leader is not another member of the peer communicator"
				       : "the leaders could not agree";
}

int zinter_agree(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
	const char *name, struct zinter *i)
{
	int64_t head[HEAD_COUNT] = {MPI_SUCCESS};
	*i = (struct zinter){0};
	if (is_foreign(local_comm))
		return ZINTER_NATIVE;
	int rc = own_group(local_comm, i);
	if (rc == MPI_SUCCESS && (local_leader < 0 || local_leader >= i->nmine))
		rc = MPI_ERR_RANK;
	if (rc == MPI_SUCCESS && tag < 0)
		rc = MPI_ERR_TAG;
	if (rc != MPI_SUCCESS) {
		zinter_free(i);
		i->nmine = 0;
		return zerror_raise_native(local_comm, rc, name, "%s",
			rc == MPI_ERR_RANK  ? "the local leader is not a member"
			: rc == MPI_ERR_TAG ? "the tag is negative"
					    : "not an intracommunicator");
	}
	bool leader = i->mine[local_leader] == zworld.vrank;
	if (leader)
		lead(i, peer_comm, remote_leader, tag, name, head);
	rc = tell(local_comm, name, head, HEAD_COUNT, MPI_INT64_T, local_leader);
	if (rc == MPI_SUCCESS && head[HEAD_VERDICT] == MPI_SUCCESS) {
		i->id = head[HEAD_ID];
		i->ntheirs = (int)head[HEAD_SIZE];
		if (!leader)
			i->theirs = malloc((size_t)i->ntheirs * sizeof *i->theirs);
		/* Without memory this member cannot take part in what the others do. */
		if (!i->theirs)
			rc = zerror_raise_native(local_comm, MPI_ERR_NO_MEM, name, "out of memory");
		if (rc == MPI_SUCCESS)
			rc = tell(local_comm, name, i->theirs, i->ntheirs, MPI_INT, local_leader);
	}
	if (rc == MPI_SUCCESS && head[HEAD_VERDICT] == MPI_SUCCESS)
		return MPI_SUCCESS;
	zinter_free(i);
	if (rc != MPI_SUCCESS || head[HEAD_VERDICT] == ZINTER_NATIVE)
		return rc != MPI_SUCCESS ? rc : ZINTER_NATIVE;
	const int class = zabi_class_of((int)head[HEAD_VERDICT]);
	return zerror_raise_native(local_comm, class, name, "%s", verdict_text(class));
}
