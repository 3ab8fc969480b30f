/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of the members of a new communicator before they call a native function that blocks. Inside each part the
 * members of a group meet by messages on the internal communicator. The group's rank 0 gives the new id to the leaders
 * of the other parts, bridged under the tag of the call, and these give it to their members.
 */
#include "libzip/comm/comm_meet.h"

#include <string.h>

#include "libzip/coll/base/coll_local.h"
#include "libzip/comm/comm_internal.h"
#include "libzip/schedule/engine.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/world.h"

int zcomm_meet_local(MPI_Comm local)
{
	MPI_Request r;
	if (zcoll_local_may_block(local))
		return MPI_SUCCESS;
	return zcoll_local_wait(zn.Ibarrier(local, &r), &r, local, "MPI_Ibarrier");
}

struct meeting {
	const struct zgroup *group;
	int leader; /* index in the group of my part's first member */
	int tag;    /* on the internal communicator */
	int64_t id;
	bool known; /* all members know the id: nothing goes over the bridge */
};

struct message {
	MPI_Comm comm; /* the internal one */
	int64_t *data;
	int64_t hello; /* a member's first message, whose content means nothing */
	int peer;      /* rank in the internal communicator */
	int tag;
};

static int start_send(void *arg, MPI_Request *r)
{
	struct message *m = arg;
	return zn.Isend(m->data, 1, MPI_INT64_T, m->peer, m->tag, m->comm, r);
}

static int start_recv(void *arg, MPI_Request *r)
{
	struct message *m = arg;
	return zn.Irecv(m->data, 1, MPI_INT64_T, m->peer, m->tag, m->comm, r);
}

/* data NULL: a hello. */
static int add(struct zsched *s, int (*start)(void *, MPI_Request *), struct meeting *t, int64_t *data, int vrank)
{
	struct message *m = zsched_alloc(s, sizeof *m);
	if (!m)
		return MPI_ERR_NO_MEM;
	int unused;
	*m = (struct message){.comm = zcomm_internal(0, &unused),
		.data = data ? data : &m->hello,
		.peer = (int)zworld.place[vrank].lrank,
		.tag = t->tag};
	return zstep_native(s, start, m);
}

/* Receives from, or sends to, all members of the group in my part except the leader. */
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

/* Concurrent calls differ in communicator or tag. Two calls that get the same number here are a problem only if they
 * are under way on the same processes at the same time, in different threads. */
static int tag_of(const struct zcomm *c, int tag)
{
	return zcomm_internal_mix((c ? c->id : 0) ^ (uint64_t)(uint32_t)tag << 16, zcomm_internal_tags());
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

int zcomm_meet_new(struct zcomm *c, const struct zgroup *g, int tag, const char *name, int64_t *id)
{
	/* A local parent has no entry. Then nothing goes over the bridge, and any communicator will do. */
	struct meeting t = {.group = g, .tag = tag_of(c, tag)};
	t.id = g->rank == 0 ? (int64_t)zcomm_new_id() : 0;
	int rc = run_meeting(c ? c : zcomm_world, &t, tag, name);
	*id = t.id;
	return rc;
}

int zcomm_meet_group(const struct zgroup *g, uint64_t id, const char *name)
{
	struct meeting t = {.group = g,
		.tag = zcomm_internal_mix(id, zcomm_internal_tags()),
		.id = (int64_t)id,
		.known = true};
	return run_meeting(zcomm_world, &t, 0, name);
}
