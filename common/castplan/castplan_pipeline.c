/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The binomial pipeline (the paper's appendix A) on a hypercube of d = floor(log2 n) dimensions. The root has vertex 0
 * for itself; n - 2^d of the other vertices have two members.
 *
 * In step s every vertex trades along dimension s mod d. The root puts in block s; at the end it puts in the last block
 * again and again. By induction: when step s begins, a vertex v other than 0 has all blocks up to s - d - 1, and
 * exactly one of the d blocks after those, its newest. The newest block is the first b in [s - d, s - 1] whose
 * dimension b mod d is a set bit of v. (Block b enters at the vertex that has only the bit b mod d, and the number of
 * its vertices doubles in each step. So block b is at the vertices that have this bit and, besides, only bits of the
 * dimensions used since.) Along dimension s mod d exactly one of two neighbours has that bit. Its newest block is block
 * s - d, which the other neighbour lacks, and each gets the block that it lacks. After step k + d - 2 all vertices have
 * all k blocks.
 *
 * Two members at a vertex: while one member sends the vertex's newest block, the other receives the incoming block and
 * hands its partner the block that only it has. So each has at most one block for itself at any time, and one more step
 * makes them equal. This takes one step less than the paper allows ("spreads over two asynchronous steps"), and is the
 * least possible.
 */
#include "common/castplan/castplan_pipeline.h"

#define NONE UINT32_MAX

struct duty {			   /* of a vertex in one step */
	uint32_t out, in;	   /* blocks, or NONE */
	uint32_t sender, receiver; /* slots */
	uint32_t pass[2];	   /* the block that this slot hands to the other slot, or NONE */
};

/* The place of a vertex's newest block in the window of d blocks that begins with block s - d; d for the root. */
static uint32_t place_of_newest(uint32_t vertex, uint32_t dimension, uint32_t d)
{
	uint32_t mask = (uint32_t)((UINT64_C(1) << d) - 1);
	uint32_t turned = (uint32_t)(((uint64_t)vertex >> dimension | (uint64_t)vertex << (d - dimension)) & mask);
	return turned ? (uint32_t)__builtin_ctz(turned) : d;
}

/* The newest block of a vertex when step s begins, in which vertices trade along this dimension. NONE: the vertex has
 * no block yet. */
static uint32_t newest(const struct zcastplan *p, uint32_t vertex, uint64_t s, uint32_t dimension)
{
	uint32_t d = p->u.cube.dimensions;
	uint64_t b = s + place_of_newest(vertex, dimension, d);
	if (b < d)
		return NONE;
	return b - d < p->blocks ? (uint32_t)(b - d) : p->blocks - 1;
}

/* The second member of a vertex, or ZCASTPLAN_NOBODY. */
static uint32_t second_of(const struct zcastplan *p, uint32_t vertex)
{
	uint64_t m = (UINT64_C(1) << p->u.cube.dimensions) + vertex - 1;
	return vertex && m < p->members ? (uint32_t)m : ZCASTPLAN_NOBODY;
}

static uint32_t member_at(const struct zcastplan *p, uint32_t vertex, uint32_t slot)
{
	return slot ? second_of(p, vertex) : vertex;
}

/* Computes what the members of a vertex do in step s, and what they have after it. */
static struct duty step_vertex(const struct zcastplan *p, uint32_t vertex, struct zcastplan_vertex *v, uint64_t s,
	uint32_t dimension)
{
	uint32_t other = vertex ^ UINT32_C(1) << dimension;
	uint32_t mine = newest(p, vertex, s, dimension), theirs = newest(p, other, s, dimension);
	struct duty duty = {.out = NONE, .in = NONE, .pass = {NONE, NONE}};
	/* in the end both have the last block; the root receives nothing */
	if (mine != theirs && s + 1 < p->blocks + (uint64_t)p->u.cube.dimensions) {
		duty.out = other ? mine : NONE;
		duty.in = vertex ? theirs : NONE;
	}
	if (second_of(p, vertex) == ZCASTPLAN_NOBODY)
		return duty;
	if (duty.out == NONE && duty.in == NONE) {
		for (int slot = 0; slot < 2; slot++) {
			duty.pass[slot] = v->only[slot];
			v->only[slot] = NONE;
		}
		return duty;
	}
	/* The member that has the block sends it. If both have it, or nothing is sent, that member is free to receive
	 * which lacks a block of the other. */
	if (duty.out != NONE && (duty.out == v->only[0] || duty.out == v->only[1]))
		duty.sender = duty.out == v->only[1];
	else
		duty.sender = v->only[0] != NONE;
	duty.receiver = 1 - duty.sender;
	duty.pass[duty.receiver] = v->only[duty.receiver];
	v->only[duty.receiver] = duty.in;
	return duty;
}

static uint64_t pipeline_steps(const struct zcastplan_shape *s)
{
	return (uint64_t)s->blocks + zcastplan_base_log2(s->members) - 1;
}

static int pipeline_begin(struct zcastplan *p, const struct zcastplan_shape *shape)
{
	uint32_t d = 31 - (uint32_t)__builtin_clz(shape->members), mask = (uint32_t)((UINT64_C(1) << d) - 1);
	p->u.cube.dimensions = d;
	p->u.cube.slot = p->me > mask;
	p->u.cube.vertex = p->u.cube.slot ? p->me - mask : p->me;
	p->u.cube.own = (struct zcastplan_vertex){{NONE, NONE}};
	for (uint32_t i = 0; i < d; i++)
		p->u.cube.neighbour[i] = (struct zcastplan_vertex){{NONE, NONE}};
	return 0;
}

static void take_step(struct zcastplan *p, uint64_t s, struct zcastplan_step *out)
{
	uint32_t vertex = p->u.cube.vertex, slot = p->u.cube.slot, dimension = (uint32_t)(s % p->u.cube.dimensions);
	uint32_t across = vertex ^ UINT32_C(1) << dimension;
	struct duty own = step_vertex(p, vertex, &p->u.cube.own, s, dimension), other = {.out = NONE};
	for (uint32_t i = 0; i < p->u.cube.dimensions; i++) {
		uint32_t neighbour = vertex ^ UINT32_C(1) << i;
		if (i == dimension)
			other = step_vertex(p, neighbour, &p->u.cube.neighbour[i], s, dimension);
		else if (second_of(p, neighbour) !=
			 ZCASTPLAN_NOBODY) /* which member has which block there will matter */
			step_vertex(p, neighbour, &p->u.cube.neighbour[i], s, dimension);
	}
	out->number = s;
	if (own.out != NONE && own.sender == slot) {
		out->to = member_at(p, across, other.receiver);
		out->send_block = own.out;
	} else if (own.pass[slot] != NONE) {
		out->to = member_at(p, vertex, 1 - slot);
		out->send_block = own.pass[slot];
	}
	if (own.in != NONE && own.receiver == slot) {
		out->from = member_at(p, across, other.sender);
		out->recv_block = own.in;
	} else if (own.pass[1 - slot] != NONE) {
		out->from = member_at(p, vertex, 1 - slot);
		out->recv_block = own.pass[1 - slot];
	}
}

static bool pipeline_next(struct zcastplan *p, struct zcastplan_step *out)
{
	while (p->next < p->steps) {
		take_step(p, p->next++, out);
		if (out->to != ZCASTPLAN_NOBODY || out->from != ZCASTPLAN_NOBODY)
			return true;
	}
	return false;
}

static int pipeline_peers(const struct zcastplan *p, bool *peer)
{
	for (uint32_t i = 0; i <= p->u.cube.dimensions; i++) {
		bool own = i == p->u.cube.dimensions;
		uint32_t vertex = own ? p->u.cube.vertex : p->u.cube.vertex ^ UINT32_C(1) << i;
		peer[vertex] = true;
		if (second_of(p, vertex) != ZCASTPLAN_NOBODY)
			peer[second_of(p, vertex)] = true;
	}
	peer[p->me] = false;
	return 0;
}

const struct zcastplan_ops zcastplan_pipeline = {.name = "pipeline",
	.steps = pipeline_steps,
	.begin = pipeline_begin,
	.next = pipeline_next,
	.peers = pipeline_peers};
