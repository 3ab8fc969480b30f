/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of the members of a new communicator before they call a native function that blocks. Inside each part the
 * members of a group meet by messages on the internal communicator. The group's rank 0 gives the new id to the leaders
 * of the other parts, bridged under the tag of the call, and these give it to their members. An outcome goes the same
 * way up first.
 */
#include "libzip/comm/comm_meet.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/coll/base/coll_local.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/schedule/engine.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/foreign.h"
#include "libzip/world/world.h"

int zcomm_meet_local(MPI_Comm local)
{
	MPI_Request r;
	if (zcoll_local_may_block(local) || zforeign_in(local))
		return MPI_SUCCESS;
	return zcoll_local_wait(zn.Ibarrier(local, &r), &r, local, "MPI_Ibarrier");
}

static int hear_all(MPI_Comm local, int mine, int *all)
{
	MPI_Request r;
	*all = 0;
	return zcoll_local_wait(zn.Iallreduce(&mine, all, 1, MPI_INT, MPI_MIN, local, &r), &r, local, "MPI_Iallreduce");
}

/* False also where native MPI fails. */
bool zcomm_meet_all(MPI_Comm local, bool mine)
{
	int all;
	return hear_all(local, mine, &all) == MPI_SUCCESS && all;
}

bool zcomm_meet_outcome(MPI_Comm local, struct zcomm_outcome *o)
{
	int all, rc = hear_all(local, o->failure == 0, &all);
	zcomm_outcome_note(o, zerror_class(rc), "the members could not agree");
	if (rc != MPI_SUCCESS)
		o->raised = rc;
	return rc == MPI_SUCCESS && all;
}

struct meeting {
	const struct zgroup *group;
	int leader; /* index in the group of my part's first member */
	int tag;    /* on the internal communicator */
	int64_t id;
	bool known;		       /* all members know the id: nothing goes over the bridge */
	struct zcomm_outcome *outcome; /* of this member; NULL: the meeting is about the id */
	struct zcomm_outcome *reports; /* [group's size]: in a leader, of the others, in the order of the group */
};

struct message {
	MPI_Comm comm; /* the internal one */
	void *data;
	int bytes;
	int peer; /* rank in the internal communicator */
	int tag;
};

static int start_send(void *arg, MPI_Request *r)
{
	struct message *m = arg;
	return zn.Isend(m->data, m->bytes, MPI_BYTE, m->peer, m->tag, m->comm, r);
}

static int start_recv(void *arg, MPI_Request *r)
{
	struct message *m = arg;
	return zn.Irecv(m->data, m->bytes, MPI_BYTE, m->peer, m->tag, m->comm, r);
}

/* data NULL: an empty message. */
static int add(struct zsched *s, int (*start)(void *, MPI_Request *), const struct meeting *t, void *data, int vrank)
{
	struct message *m = zsched_alloc(s, sizeof *m);
	if (!m)
		return MPI_ERR_NO_MEM;
	int unused;
	*m = (struct message){.comm = zcomm_internal(0, &unused),
		.data = data,
		.bytes = !data	      ? 0
			 : t->outcome ? ZCOMM_OUTCOME_BYTES
				      : (int)sizeof t->id,
		.peer = (int)zworld.place[vrank].lrank,
		.tag = t->tag};
	return zstep_native(s, start, m);
}

static void *report_of(const struct meeting *t, int i)
{
	return t->reports ? &t->reports[i] : NULL;
}

/* From each member in my part but the leader: its report, or only that it is here. */
static int hear_members(struct zsched *s, const struct meeting *t)
{
	int rc = MPI_SUCCESS;
	for (int i = t->leader + 1; i < t->group->size && rc == MPI_SUCCESS; i++) {
		if (zworld_is_local(t->group->vrank[i]))
			rc = add(s, start_recv, t, report_of(t, i), t->group->vrank[i]);
	}
	zsched_round(s);
	return rc;
}

static int tell_members(struct zsched *s, const struct meeting *t, void *data)
{
	int rc = MPI_SUCCESS;
	for (int i = t->leader + 1; i < t->group->size && rc == MPI_SUCCESS; i++) {
		if (zworld_is_local(t->group->vrank[i]))
			rc = add(s, start_send, t, data, t->group->vrank[i]);
	}
	zsched_round(s);
	return rc;
}

/* Calls fn for the first member of every part but mine. */
static int each_leader(struct zsched *s, const struct meeting *t,
	int (*fn)(struct zsched *, const struct meeting *, int))
{
	const struct zgroup *g = t->group;
	int rc = MPI_SUCCESS;
	bool *seen = zsched_alloc(s, (size_t)zworld.nparts * sizeof *seen);
	if (!seen)
		return MPI_ERR_NO_MEM;
	memset(seen, 0, (size_t)zworld.nparts * sizeof *seen);
	for (int i = 0; i < g->size && rc == MPI_SUCCESS; i++) {
		uint32_t part = zworld.place[g->vrank[i]].part;
		if (!seen[part] && part != (uint32_t)zworld.part)
			rc = fn(s, t, i);
		seen[part] = true;
	}
	zsched_round(s);
	return rc;
}

static int rank_of(struct zsched *s, const struct meeting *t, int i)
{
	return zcomm_rank_of(zsched_comm(s), t->group->vrank[i]);
}

static int tell_id(struct zsched *s, const struct meeting *t, int i)
{
	return zstep_send(s, &t->id, 1, MPI_INT64_T, rank_of(s, t, i));
}

static int tell_outcome(struct zsched *s, const struct meeting *t, int i)
{
	return zstep_send(s, t->outcome, ZCOMM_OUTCOME_BYTES, MPI_BYTE, rank_of(s, t, i));
}

static int hear_outcome(struct zsched *s, const struct meeting *t, int i)
{
	return zstep_recv(s, report_of(t, i), ZCOMM_OUTCOME_BYTES, MPI_BYTE, rank_of(s, t, i));
}

/* Takes the first failure that has been reported. */
static int judge(struct zsched *s, void *arg)
{
	struct meeting *t = arg;
	(void)s;
	for (int i = 0; i < t->group->size; i++)
		zcomm_outcome_note(t->outcome, zcomm_outcome_class(&t->reports[i]), t->reports[i].text);
	return MPI_SUCCESS;
}

/* A leader of another part takes over what the group's rank 0 has judged. */
static int take_verdict(struct zsched *s, void *arg)
{
	struct meeting *t = arg;
	(void)s;
	if (t->leader != 0 && !t->known)
		memcpy(t->outcome, &t->reports[0], ZCOMM_OUTCOME_BYTES);
	return MPI_SUCCESS;
}

/* The id is known to the group's rank 0, or it judges the outcome: it tells the leaders. */
static int cross(struct zsched *s, struct meeting *t)
{
	int root = rank_of(s, t, 0), rc;
	if (t->leader != 0 && !t->outcome)
		return zstep_recv(s, &t->id, 1, MPI_INT64_T, root);
	if (t->leader == 0 && !t->outcome)
		return each_leader(s, t, tell_id);
	if (t->leader != 0) {
		rc = tell_outcome(s, t, 0);
		zsched_round(s);
		return rc == MPI_SUCCESS ? hear_outcome(s, t, 0) : rc;
	}
	rc = each_leader(s, t, hear_outcome);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, judge, t);
	zsched_round(s);
	return rc == MPI_SUCCESS ? each_leader(s, t, tell_outcome) : rc;
}

static int build(struct zsched *s, struct meeting *t)
{
	int vrank = t->group->vrank[t->leader], rc;
	void *data = t->outcome ? (void *)t->outcome : &t->id;
	if (t->group->rank != t->leader) {
		rc = add(s, start_send, t, t->outcome, vrank);
		zsched_round(s);
		return rc == MPI_SUCCESS ? add(s, start_recv, t, data, vrank) : rc;
	}
	rc = hear_members(s, t);
	if (rc == MPI_SUCCESS && t->outcome)
		rc = zstep_call(s, judge, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS && !t->known)
		rc = cross(s, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS && t->outcome)
		rc = zstep_call(s, take_verdict, t);
	zsched_round(s);
	return rc == MPI_SUCCESS ? tell_members(s, t, data) : rc;
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

static void agree(struct zcomm *carrier, struct meeting *t, int tag, const char *name)
{
	struct zcomm_outcome *o = t->outcome;
	t->reports = calloc((size_t)t->group->size, sizeof *t->reports);
	/* Without memory this member cannot take part in what the others do. */
	int rc = t->reports ? run_meeting(carrier, t, tag, name)
			    : zerror_raise(carrier, MPI_ERR_NO_MEM, name, "out of memory");
	free(t->reports);
	if (rc == MPI_SUCCESS)
		return;
	zcomm_outcome_note(o, zerror_class(rc), "the members could not agree");
	o->raised = rc;
}

void zcomm_meet_agree(struct zcomm *c, const struct zgroup *g, int tag, const char *name, struct zcomm_outcome *o)
{
	agree(c, &(struct meeting){.group = g, .tag = tag_of(c, tag), .outcome = o}, tag, name);
}

void zcomm_meet_agree_here(const struct zgroup *g, uint64_t id, const char *name, struct zcomm_outcome *o)
{
	const int tag = zcomm_internal_mix(id, zcomm_internal_tags());
	agree(zcomm_world, &(struct meeting){.group = g, .tag = tag, .known = true, .outcome = o}, 0, name);
}
