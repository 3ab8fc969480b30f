/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast between parts by a plan, see coll_plan.h. It is the upper layer of RDMC's hybrids (section 4.3 of the
 * paper): every block enters each part once, and a part that has it may send it on while the root sends the next. The
 * lower layer is the part's own broadcast.
 */
#include "coll_plan.h"

#include "coll.h"
#include "coll_native.h"

struct spread {
	struct zsched *s;
	struct zcomm *c;
	char *wire;
	MPI_Count bytes, block;
	int root, root_part;
};

static char *block_at(const struct spread *p, uint32_t k, MPI_Count *bytes)
{
	MPI_Count at = p->block * k, left = p->bytes - at;
	*bytes = left < p->block ? left : p->block;
	return p->wire + at;
}

static int part_of(const struct zcomm *c, int rank)
{
	int p = 0;
	while (c->parts[p].part != (int)zworld.place[c->vrank[rank]].part)
		p++;
	return p;
}

/* Who sends and receives for a member of the plan. */
static int rank_of(const struct spread *p, uint32_t member)
{
	return member == 0 ? p->root : p->c->parts[(p->root_part + (int)member) % p->c->nparts].leader;
}

/* The messages of a step. */
static int add_messages(const struct spread *p, const struct zcast_step *step)
{
	MPI_Count bytes;
	int rc = MPI_SUCCESS;
	if (step->from != ZCAST_NOBODY) {
		char *at = block_at(p, step->recv_block, &bytes);
		rc = zsched_recv(p->s, at, bytes, MPI_BYTE, rank_of(p, step->from));
	}
	if (step->to != ZCAST_NOBODY && rc == MPI_SUCCESS) {
		char *at = block_at(p, step->send_block, &bytes);
		rc = zsched_send(p->s, at, bytes, MPI_BYTE, rank_of(p, step->to));
	}
	return rc;
}

/* A block that has come to the leader, to the others of its part. */
static int add_inside(const struct spread *p, uint32_t block)
{
	MPI_Count bytes;
	char *at = block_at(p, block, &bytes);
	return block == ZCAST_NOBODY || p->c->nlocal == 1 ? MPI_SUCCESS : znative_bcast(p->s, at, bytes, MPI_BYTE, 0);
}

/* Round by round: what a step brings is spread while the messages of the next are under way. The leader's steps tell
 * the others the order of the blocks. */
static int add_steps(const struct spread *p, struct zcast_plan *plan, bool carrying)
{
	struct zcast_step step;
	uint32_t come = ZCAST_NOBODY;
	int rc = MPI_SUCCESS;
	while (rc == MPI_SUCCESS && zcast_plan_next(plan, &step)) {
		if (carrying)
			rc = add_messages(p, &step);
		if (rc == MPI_SUCCESS)
			rc = add_inside(p, come);
		come = step.from == ZCAST_NOBODY ? ZCAST_NOBODY : step.recv_block;
		zsched_round(p->s);
	}
	if (rc == MPI_SUCCESS)
		rc = add_inside(p, come);
	zsched_round(p->s);
	return rc;
}

int zbuild_plan(struct zsched *s, char *wire, MPI_Count bytes, MPI_Count block, int64_t blocks, int root,
	enum zcast_algorithm algorithm)
{
	struct zcomm *c = zsched_comm(s);
	struct spread p = {s, c, wire, bytes, block, root, part_of(c, root)};
	if (bytes / blocks >= block) /* the steps of a schedule are bounded */
		p.block = (bytes + blocks - 1) / blocks;
	struct zcast_shape shape = {.algorithm = algorithm,
		.members = (uint32_t)c->nparts,
		.blocks = (uint32_t)((bytes + p.block - 1) / p.block)};
	uint32_t me = (uint32_t)((c->my_part - p.root_part + c->nparts) % c->nparts);
	struct zcast_plan *plan = zcast_plan_create(&shape, me);
	if (!plan)
		return MPI_ERR_NO_MEM;
	int rc = add_steps(&p, plan, me == 0 || zcoll_is_leader(c));
	zcast_plan_destroy(plan);
	return rc;
}
