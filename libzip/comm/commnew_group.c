/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_create_group: collective over the group alone. Inside each part the members meet by
 * messages on a native communicator of ours; the group's rank 0 gives the new id to the other
 * parts' leaders, bridged under the tag of the call, and they to their members. Then the native
 * function, which blocks only for as long as the others need to call it.
 */
#include "libzip/coll/base/coll_local.h"
#include "libzip/comm/commnew.h"

#include <string.h>

#include "libzip/bridge/bridge.h"
#include "libzip/schedule/engine.h"
#include "libzip/schedule/step.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"

static MPI_Comm internal = MPI_COMM_NULL;
static int tags;       /* how many it has */
#define TAGS_MIN 32767 /* what MPI guarantees */

int zcommnew_init(void)
{
	int *tag_ub, found = 0, rc = zn.Comm_dup(zworld.base, &internal);
	if (rc == MPI_SUCCESS)
		rc = zn.Comm_set_errhandler(internal,
			MPI_ERRORS_RETURN); /* errors are raised where the application is */
	tags = TAGS_MIN;
	if (rc == MPI_SUCCESS && zn.Comm_get_attr(internal, MPI_TAG_UB, &tag_ub, &found) == MPI_SUCCESS && found)
		tags = *tag_ub;
	return rc;
}

void zcommnew_fini(void)
{
	if (internal != MPI_COMM_NULL)
		zn.Comm_free(&internal);
}

struct meeting {
	const struct zgroup *group;
	int leader; /* index in the group of my part's first member */
	int tag;    /* on the internal communicator */
	int64_t id;
	bool known; /* the id is, to all: nothing goes over the bridge */
};

struct message {
	int64_t *data;
	int64_t hello; /* what a member says first: nothing */
	int peer;      /* rank in the internal communicator */
	int tag;
};

static int start_send(void *arg, MPI_Request *r)
{
	struct message *m = arg;
	return zn.Isend(m->data, 1, MPI_INT64_T, m->peer, m->tag, internal, r);
}

static int start_recv(void *arg, MPI_Request *r)
{
	struct message *m = arg;
	return zn.Irecv(m->data, 1, MPI_INT64_T, m->peer, m->tag, internal, r);
}

/* data NULL: a hello. */
static int add(struct zsched *s, int (*start)(void *, MPI_Request *), struct meeting *t, int64_t *data, int vrank)
{
	struct message *m = zsched_alloc(s, sizeof *m);
	if (!m)
		return MPI_ERR_NO_MEM;
	*m = (struct message){.data = data ? data : &m->hello, .peer = (int)zworld.place[vrank].lrank, .tag = t->tag};
	return zstep_native(s, start, m);
}

/* Receives from, or sends to, all members of the group in my part but the leader. */
static int add_members(struct zsched *s, int (*start)(void *, MPI_Request *), struct meeting *t, int64_t *data)
{
	int rc = MPI_SUCCESS;
	for (int i = t->leader + 1; i < t->group->size && rc == MPI_SUCCESS; i++) {
		if (zworld_is_local(t->group->vrank[i]))
			rc = add(s, start, t, data, t->group->vrank[i]);
	}
	zsched_round(s);
	return rc;
}

/* The group's rank 0 sends the id to the first member in every other part. */
static int add_bridge(struct zsched *s, struct meeting *t)
{
	const struct zgroup *g = t->group;
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	if (t->leader != 0)
		return zstep_recv(s, &t->id, 1, MPI_INT64_T, zcomm_rank_of(c, g->vrank[0]));
	bool *seen = zsched_alloc(s, (size_t)zworld.nparts * sizeof *seen);
	if (!seen)
		return MPI_ERR_NO_MEM;
	memset(seen, 0, (size_t)zworld.nparts * sizeof *seen);
	for (int i = 0; i < g->size && rc == MPI_SUCCESS; i++) {
		uint32_t part = zworld.place[g->vrank[i]].part;
		if (!seen[part] && part != (uint32_t)zworld.part)
			rc = zstep_send(s, &t->id, 1, MPI_INT64_T, zcomm_rank_of(c, g->vrank[i]));
		seen[part] = true;
	}
	zsched_round(s);
	return rc;
}

static int build(struct zsched *s, struct meeting *t)
{
	int rc;
	if (t->group->rank != t->leader) {
		rc = add(s, start_send, t, NULL, t->group->vrank[t->leader]);
		zsched_round(s);
		return rc == MPI_SUCCESS ? add(s, start_recv, t, &t->id, t->group->vrank[t->leader]) : rc;
	}
	rc = add_members(s, start_recv, t, NULL);
	if (rc == MPI_SUCCESS && !t->known)
		rc = add_bridge(s, t);
	zsched_round(s);
	return rc == MPI_SUCCESS ? add_members(s, start_send, t, &t->id) : rc;
}

static int mix(uint64_t number, int modulus)
{
	return (int)((number * UINT64_C(0x9e3779b97f4a7c15) >> 33) % (uint64_t)modulus); /* 2^64 / phi */
}

/* Concurrent calls differ in communicator or tag. Two that get the same number here on the same
 * processes would have to be under way at the same time in different threads. */
static int internal_tag(const struct zcomm *c, int tag)
{
	return mix((c ? c->id : 0) ^ (uint64_t)(uint32_t)tag << 16, tags);
}

static int run_meeting(struct zcomm *carrier, struct meeting *t, int tag, const char *name)
{
	while (!zworld_is_local(t->group->vrank[t->leader]))
		t->leader++;
	struct zsched *s = zsched_create(carrier, name);
	int rc = s ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (s) {
		zsched_detach(s, ZCOMM_INTERNAL, tag);
		rc = build(s, t);
	}
	if (rc != MPI_SUCCESS) {
		if (s)
			zsched_destroy(s);
		return zerror_raise(carrier, rc, name, "out of memory");
	}
	return zengine_run(s);
}

/* MPI_SUCCESS or an error code that has been raised; the id of the new communicator. */
static int meet(struct zcomm *c, const struct zgroup *g, int tag, const char *name, int64_t *id)
{
	/* A local parent has no entry: nothing bridged then, any communicator will do. */
	struct meeting t = {.group = g, .tag = internal_tag(c, tag)};
	t.id = g->rank == 0 ? (int64_t)zcomm_new_id() : 0;
	int rc = run_meeting(c ? c : zcomm_world, &t, tag, name);
	*id = t.id;
	return rc;
}

int zcommnew_gather(const struct zgroup *g, uint64_t id, const char *name)
{
	struct meeting t = {.group = g, .tag = mix(id, tags), .id = (int64_t)id, .known = true};
	return run_meeting(zcomm_world, &t, 0, name);
}

int zcommnew_native(const struct zgroup *g, uint64_t id, MPI_Comm *native, const char *name)
{
	MPI_Group local;
	int rc = zcommnew_native_group(internal, g, &local, name);
	*native = MPI_COMM_NULL;
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Comm_create_group(internal, local, mix(id, TAGS_MIN), native);
	zshim_block_end();
	if (local != MPI_GROUP_EMPTY)
		zn.Group_free(&local);
	return rc;
}

int zcommnew_tags(void)
{
	return tags;
}

MPI_Comm zcommnew_internal(int tag, int *mixed)
{
	*mixed = mix((uint64_t)(uint32_t)tag << 16, tags);
	return internal;
}

MPI_Comm zcommnew_internal_win(int *tag)
{
	*tag = tags; /* the highest: mix gives those below */
	return internal;
}

int zip_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	static const char name[] = "MPI_Comm_create_group";
	struct zcomm *c = zcomm_find(comm);
	struct zgroup *g = zgroup_find(group);
	MPI_Comm native = MPI_COMM_NULL;
	MPI_Group local;
	int64_t id = 0;
	zcomm_reap();
	if (!g)
		return zerror_raise_native(comm, MPI_ERR_GROUP, name, "invalid group");
	if (c && c->local)
		return zerror_raise(c, MPI_ERR_COMM, name, "this is an intercommunicator");
	if (tag < 0 && c)
		return zerror_raise(c, MPI_ERR_TAG, name, "the tag is negative");
	for (int i = 0; c && i < g->size; i++) {
		if (zcomm_rank_of(c, g->vrank[i]) == MPI_UNDEFINED)
			return zerror_raise(c, MPI_ERR_GROUP, name, "the group is not a subset of the communicator's");
	}
	int rc = c ? MPI_SUCCESS : zcommnew_check_group(comm, g, name);
	if (rc == MPI_SUCCESS && g->rank != MPI_UNDEFINED && (c || !zcoll_local_may_block(comm)))
		rc = meet(c, g, tag, name, &id);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zcommnew_native_group(c ? c->shadow : comm, g, &local, name);
	if (rc != MPI_SUCCESS)
		return rc;
	comm = c ? c->shadow : comm;
	zshim_block_begin(); /* other threads go on: one of them may be what another rank waits for
			      */
	rc = zn.Comm_create_group(comm, local, tag, &native);
	zshim_block_end();
	if (local != MPI_GROUP_EMPTY)
		zn.Group_free(&local);
	*newcomm = native;
	if (rc == MPI_SUCCESS && native != MPI_COMM_NULL && c)
		rc = zerror_raise(c,
			zcommnew_finish(c, native, (uint64_t)id, g->vrank, g->size, ZCOMMNEW_MEET, newcomm), name,
			"out of memory");
	return rc;
}
