/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts between parts by plans. Each is the upper layer of RDMC's hybrids (section 4.3 of the paper): every block
 * enters each part once, and a part that has a block may send it on while the root sends the next one. The lower layer
 * is the part's own broadcast.
 *
 * Several plans with different roots share one schedule, as overlapping groups share members. A number that both ends
 * know puts their messages in order: block k, sent in step t of its plan, begins in round k + (t - k) * depth, and has
 * come when the round depth - 1 later ends. So a block is there before it is sent on, in step t + 1 at the earliest,
 * and the blocks behind it are on their way meanwhile. No round waits for ever, as each waits only for rounds up to its
 * own, in all ranks. Messages between the same two ranks begin at both in the order of rounds, pieces and steps, and
 * the members of a part spread blocks in that order.
 */
#include "libzip/coll/across/plan.h"

#include <stdlib.h>

#include "common/castplan/castplan.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

_Static_assert((int)ZTUNING_BETWEEN_SEQUENTIAL == ZCASTPLAN_SEQUENTIAL + 1 &&
		       (int)ZTUNING_BETWEEN_TREE == ZCASTPLAN_TREE + 1 &&
		       (int)ZTUNING_BETWEEN_CHAIN == ZCASTPLAN_CHAIN + 1 &&
		       (int)ZTUNING_BETWEEN_PIPELINE == ZCASTPLAN_PIPELINE + 1,
	"behind ZTUNING_BETWEEN_ALL they are zipcast's algorithms");

/* A piece on its way. */
struct flow {
	const struct zplan_piece *piece;
	MPI_Count block;
	uint32_t blocks;
	int root_part, depth;
};

/* Within a round acts have this order. */
enum act { RECEIVE_OR_SEND, SPREAD, LAND };

struct event {
	uint64_t round;
	size_t number; /* in the order in which they were made */
	enum act act;
	const struct flow *flow;
	uint32_t block;
	int partner; /* RECEIVE_OR_SEND: a rank */
	bool sends;
	size_t message; /* LAND: the number of the event that begins the message */
};

/* All that my rank does for all pieces. */
struct timetable {
	struct zsched *s;
	int leaders;
	struct event *events;
	size_t n, room;
	int *step; /* [n]: numbers of steps of the schedule, by the event's number */
};

static enum zcastplan_algorithm algorithm_of(const struct ztuning_settings *tune)
{
	return (enum zcastplan_algorithm)(tune->between - 1);
}

bool zplan_is_used(const struct zsched *s, const struct ztuning_settings *tune)
{
	return tune->between != ZTUNING_BETWEEN_ALL && zsched_comm(s)->nparts > 2 && !zsched_inter(s);
}

static int part_of(const struct zcomm *c, int rank)
{
	int p = 0;
	while (c->parts[p].part != (int)zworld.place[c->vrank[rank]].part)
		p++;
	return p;
}

static struct flow make_flow(const struct zcomm *c, const struct zplan_piece *piece,
	const struct ztuning_settings *tune)
{
	struct flow f = {.piece = piece, .block = tune->segment, .root_part = part_of(c, piece->root)};
	if (piece->bytes / tune->segments >= f.block) /* the steps of a schedule are bounded */
		f.block = (piece->bytes + tune->segments - 1) / tune->segments;
	f.blocks = (uint32_t)((piece->bytes + f.block - 1) / f.block);
	f.depth = tune->depth < f.blocks ? (int)tune->depth : (int)f.blocks;
	return f;
}

/* The rank that sends and receives for a member of the plan. Members are the parts; the root's part is number 0. */
static int rank_of(const struct timetable *t, const struct flow *f, uint32_t member)
{
	const struct zcomm *c = zsched_comm(t->s);
	const struct zcomm_part *part = &c->parts[(f->root_part + (int)member) % c->nparts];
	return member == 0 ? f->piece->root : part->member[zleader_first(part->count, t->leaders, f->piece->number)];
}

static int add_event(struct timetable *t, const struct event *e)
{
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		struct event *more = realloc(t->events, room * sizeof *more);
		if (!more)
			return MPI_ERR_NO_MEM;
		t->events = more;
		t->room = room;
	}
	t->events[t->n] = *e;
	t->events[t->n].number = t->n;
	t->n++;
	return MPI_SUCCESS;
}

static int add_message(struct timetable *t, const struct flow *f, uint64_t round, uint32_t block, uint32_t member,
	bool sends)
{
	size_t number = t->n;
	int rc = add_event(t, &(struct event){.round = round,
				      .act = RECEIVE_OR_SEND,
				      .flow = f,
				      .block = block,
				      .partner = rank_of(t, f, member),
				      .sends = sends});
	if (rc == MPI_SUCCESS && f->depth > 1)
		rc = add_event(t, &(struct event){.round = round + (uint64_t)f->depth - 1,
					  .act = LAND,
					  .flow = f,
					  .message = number});
	return rc;
}

/* The round in which a block begins that is sent in that step. */
static uint64_t round_of(const struct flow *f, uint64_t step, uint32_t block)
{
	return block + (step - block) * (uint64_t)f->depth;
}

static int add_step(struct timetable *t, const struct flow *f, const struct zcastplan_step *step, bool carries)
{
	int rc = MPI_SUCCESS;
	if (step->from != ZCASTPLAN_NOBODY) {
		uint64_t round = round_of(f, step->number, step->recv_block);
		if (carries)
			rc = add_message(t, f, round, step->recv_block, step->from, false);
		if (rc == MPI_SUCCESS && zsched_comm(t->s)->nlocal > 1)
			rc = add_event(t, &(struct event){.round = round + (uint64_t)f->depth,
						  .act = SPREAD,
						  .flow = f,
						  .block = step->recv_block});
	}
	if (step->to != ZCASTPLAN_NOBODY && carries && rc == MPI_SUCCESS)
		rc = add_message(t, f, round_of(f, step->number, step->send_block), step->send_block, step->to, true);
	return rc;
}

/* The other members of a part learn from the steps of their leader when each block is spread. */
static int add_flow(struct timetable *t, const struct flow *f, enum zcastplan_algorithm algorithm)
{
	const struct zcomm *c = zsched_comm(t->s);
	const struct zcastplan_shape shape = {.algorithm = algorithm,
		.members = (uint32_t)c->nparts,
		.blocks = f->blocks};
	uint32_t member = (uint32_t)((c->my_part - f->root_part + c->nparts) % c->nparts);
	bool carries = rank_of(t, f, member) == c->rank;
	struct zcastplan *plan;
	struct zcastplan_step step;
	int rc = MPI_SUCCESS;
	if (f->blocks == 0 || (member == 0 && !carries))
		return MPI_SUCCESS;
	if (!(plan = zcastplan_create(&shape, member)))
		return MPI_ERR_NO_MEM;
	while (rc == MPI_SUCCESS && zcastplan_next(plan, &step))
		rc = add_step(t, f, &step, carries);
	zcastplan_destroy(plan);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->act != y->act)
		return x->act < y->act ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int begin_message(struct timetable *t, const struct event *e, char *at, MPI_Count bytes)
{
	int rc = e->sends ? zstep_send(t->s, at, bytes, MPI_BYTE, e->partner)
			  : zstep_recv(t->s, at, bytes, MPI_BYTE, e->partner);
	if (rc == MPI_SUCCESS && e->flow->depth > 1)
		t->step[e->number] = zstep_open(t->s);
	return rc;
}

static int carry_out(struct timetable *t, const struct event *e)
{
	const struct flow *f = e->flow;
	MPI_Count offset = f->block * e->block, left = f->piece->bytes - offset;
	MPI_Count bytes = left < f->block ? left : f->block;
	if (e->act == LAND)
		return zstep_close(t->s, t->step[e->message]);
	if (e->act == SPREAD)
		return zinside_bcast(t->s, f->piece->wire + offset, bytes, MPI_BYTE,
			zleader_first(zsched_comm(t->s)->nlocal, t->leaders, f->piece->number));
	return begin_message(t, e, f->piece->wire + offset, bytes);
}

static int carry_out_all(struct timetable *t)
{
	int rc = MPI_SUCCESS;
	if (t->n > 0) {
		qsort(t->events, t->n, sizeof *t->events, compare);
		t->step = malloc(t->n * sizeof *t->step);
		rc = t->step ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	}
	for (size_t i = 0; i < t->n && rc == MPI_SUCCESS; i++) {
		if (i > 0 && t->events[i].round != t->events[i - 1].round)
			zsched_round(t->s);
		rc = carry_out(t, &t->events[i]);
	}
	zsched_round(t->s);
	free(t->step);
	return rc;
}

int zplan_build(struct zsched *s, const struct zplan_piece *pieces, int n, int leaders,
	const struct ztuning_settings *tune)
{
	struct timetable t = {.s = s, .leaders = leaders};
	struct flow *flows = malloc(((size_t)n + 1) * sizeof *flows);
	int rc = flows ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		flows[i] = make_flow(zsched_comm(s), &pieces[i], tune);
		rc = add_flow(&t, &flows[i], algorithm_of(tune));
	}
	if (rc == MPI_SUCCESS)
		rc = carry_out_all(&t);
	free(t.events);
	free(flows);
	return rc;
}

static struct zcastplan_shape block_shape(const struct zsched *s, const struct ztuning_settings *tune)
{
	return (struct zcastplan_shape){.algorithm = algorithm_of(tune),
		.members = (uint32_t)zsched_comm(s)->nparts,
		.blocks = 1};
}

int zplan_hops_steps(const struct zsched *s, const struct ztuning_settings *tune)
{
	const struct zcastplan_shape shape = block_shape(s, tune);
	return (int)zcastplan_steps(&shape);
}

struct zplan_hop *zplan_hops(struct zsched *s, const struct ztuning_settings *tune)
{
	const struct zcastplan_shape shape = block_shape(s, tune);
	int n = zsched_comm(s)->nparts, mine = zsched_comm(s)->my_part, steps = zplan_hops_steps(s, tune);
	struct zplan_hop *hops = zsched_alloc(s, (size_t)steps * (size_t)n * sizeof *hops);
	for (int i = 0; hops && i < steps * n; i++)
		hops[i] = (struct zplan_hop){.from = -1, .to = -1};
	for (int p = 0; hops && p < n; p++) {
		struct zcastplan *plan = zcastplan_create(&shape, (uint32_t)((mine - p + n) % n));
		struct zcastplan_step step;
		if (!plan)
			return NULL;
		while (zcastplan_next(plan, &step)) {
			struct zplan_hop *hop = &hops[(int)step.number * n + p];
			hop->from = step.from == ZCASTPLAN_NOBODY ? -1 : (p + (int)step.from) % n;
			hop->to = step.to == ZCASTPLAN_NOBODY ? -1 : (p + (int)step.to) % n;
		}
		zcastplan_destroy(plan);
	}
	return hops;
}
