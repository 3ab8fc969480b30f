/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives as messages in order, see program_coll.h. */
#include "mapper/program/program_coll.h"

#include <errno.h>
#include <stdlib.h>

#define COLLECTIVE (UINT64_C(1) << 63) /* in a key */

struct part {
	struct program *p;
	const struct program_coll *c;
	uint32_t relative; /* to the root, modulo n */
	struct zerr *err;
	int rc;
};

static struct program_op message(const struct part *t, enum program_kind kind, uint32_t peer, uint64_t blocks)
{
	const struct program_coll *c = t->c;
	struct program_op op = {.kind = kind,
		.peer = c->member ? c->member[peer] : peer,
		.key = COLLECTIVE | c->comm,
		.line = c->line};

	if (__builtin_mul_overflow(blocks, c->bytes, &op.bytes))
		op.bytes = UINT64_MAX; /* program_begin refuses this */
	return op;
}

static uint32_t self(const struct part *t)
{
	return t->c->member ? t->c->member[t->c->rank] : t->c->rank;
}

static void send(struct part *t, uint32_t peer, uint64_t blocks)
{
	struct program_op op = message(t, PROGRAM_SEND, peer, blocks);

	if (!t->rc)
		t->rc = program_do(t->p, self(t), &op, t->err);
}

static void receive(struct part *t, uint32_t peer)
{
	struct program_op op = message(t, PROGRAM_RECV, peer, 0);

	if (!t->rc)
		t->rc = program_do(t->p, self(t), &op, t->err);
}

/* Sends to one rank and receives from another one at the same time. */
static void exchange(struct part *t, uint32_t to, uint32_t from, uint64_t blocks)
{
	struct program_op in = message(t, PROGRAM_RECV, from, 0), out = message(t, PROGRAM_SEND, to, blocks);

	if (!t->rc)
		t->rc = program_begin(t->p, self(t), &in, t->err);
	if (!t->rc)
		t->rc = program_do(t->p, self(t), &out, t->err);
	if (!t->rc)
		t->rc = program_wait(t->p, self(t), in.slot, t->c->line, t->err);
}

/* --- binomial trees: the parent of v is v without its lowest bit --- */

static uint32_t rank_of(const struct part *t, uint32_t relative, uint32_t root)
{
	return (uint32_t)(((uint64_t)relative + root) % t->c->n);
}

static uint32_t subtree(const struct part *t, uint32_t v)
{
	uint32_t lowest = v & -v;

	return !v || t->c->n - v < lowest ? t->c->n - v : lowest;
}

/* The first bit that is too high for a child of v. */
static uint32_t child_end(const struct part *t, uint32_t v)
{
	uint32_t bit = 1;

	while (bit < t->c->n - v && (!v || bit < (v & -v)))
		bit <<= 1;
	return bit;
}

/* From the root, the largest subtree first. whole: everyone gets the same; else the blocks of the subtree. */
static void tree_down(struct part *t, uint32_t v, uint32_t root, bool whole)
{
	if (v)
		receive(t, rank_of(t, v & (v - 1), root));
	for (uint32_t bit = child_end(t, v) >> 1; bit; bit >>= 1)
		send(t, rank_of(t, v + bit, root), whole ? 1 : subtree(t, v + bit));
}

/* To the root, the smallest subtree first. */
static void tree_up(struct part *t, uint32_t v, uint32_t root, bool whole)
{
	uint32_t end = child_end(t, v);

	for (uint32_t bit = 1; bit < end; bit <<= 1)
		receive(t, rank_of(t, v + bit, root));
	if (v)
		send(t, rank_of(t, v & (v - 1), root), whole ? 1 : subtree(t, v));
}

/* --- others --- */

static void dissemination(struct part *t)
{
	uint64_t n = t->c->n, rank = t->c->rank;

	for (uint64_t step = 1; step < n; step <<= 1)
		exchange(t, (uint32_t)((rank + step) % n), (uint32_t)((rank + n - step) % n), 0);
}

/* Each rank exchanges with as many as there are others: refuses this, before it takes the memory, if the whole
 * collective has too many operations. */
static void crowd_check(struct part *t)
{
	uint64_t n = t->c->n;

	if (n > 1 && 4 * (n - 1) > PROGRAM_OPS_MAX / n)
		t->rc = zerr_set(t->err, -E2BIG,
			"this collective of %u ranks has more than %u operations; take fewer ranks", t->c->n,
			PROGRAM_OPS_MAX);
}

static void ring(struct part *t)
{
	uint64_t n = t->c->n, rank = t->c->rank;

	crowd_check(t);
	for (uint64_t step = 1; step < n && !t->rc; step++)
		exchange(t, (uint32_t)((rank + 1) % n), (uint32_t)((rank + n - 1) % n), 1);
}

/* To all others at once, beginning with the next one; and from all others. */
static void direct(struct part *t)
{
	uint64_t n = t->c->n, rank = t->c->rank;
	uint32_t *slot = malloc(2 * n * sizeof(*slot));
	uint32_t m = 0;

	crowd_check(t);
	if (!slot)
		t->rc = zerr_set(t->err, -ENOMEM, "not enough memory for the operations of the program");
	for (int in = 1; in >= 0; in--)
		for (uint64_t i = 1; i < n && !t->rc; i++) {
			uint32_t peer = (uint32_t)((rank + (in ? n - i : i)) % n);
			struct program_op op = message(t, in ? PROGRAM_RECV : PROGRAM_SEND, peer, 1);

			t->rc = program_begin(t->p, self(t), &op, t->err);
			slot[m++] = op.slot;
		}
	for (uint32_t i = 0; i < m && !t->rc; i++)
		t->rc = program_wait(t->p, self(t), slot[i], t->c->line, t->err);
	free(slot);
}

/* The root exchanges with all others. */
static void star(struct part *t, bool in)
{
	const struct program_coll *c = t->c;

	if (c->rank != c->root && in)
		send(t, c->root, 1);
	else if (c->rank != c->root)
		receive(t, c->root);
	for (uint32_t i = 1; i < c->n && c->rank == c->root; i++) {
		if (in)
			receive(t, rank_of(t, i, c->root));
		else
			send(t, rank_of(t, i, c->root), 1);
	}
}

static void chain(struct part *t)
{
	if (t->c->rank)
		receive(t, t->c->rank - 1);
	if (t->c->rank + 1 < t->c->n)
		send(t, t->c->rank + 1, 1);
}

int program_coll(struct program *p, const struct program_coll *c, struct zerr *err)
{
	struct part t = {.p = p, .c = c, .err = err};

	if (c->rank >= c->n || c->root >= c->n)
		return zerr_set(err, -EINVAL, "rank %u and root %u in a communicator of %u", c->rank, c->root, c->n);
	t.relative = (c->rank + c->n - c->root) % c->n;
	switch (c->kind) {
	case ZGRAPH_BARRIER:
		dissemination(&t);
		break;
	case ZGRAPH_BCAST:
	case ZGRAPH_SCATTER:
		tree_down(&t, t.relative, c->root, c->kind == ZGRAPH_BCAST);
		break;
	case ZGRAPH_REDUCE:
	case ZGRAPH_GATHER:
		tree_up(&t, t.relative, c->root, c->kind == ZGRAPH_REDUCE);
		break;
	case ZGRAPH_ALLREDUCE:
		tree_up(&t, c->rank, 0, true);
		tree_down(&t, c->rank, 0, true);
		break;
	case ZGRAPH_GATHERV:
	case ZGRAPH_SCATTERV:
		star(&t, c->kind == ZGRAPH_GATHERV);
		break;
	case ZGRAPH_ALLGATHER:
	case ZGRAPH_ALLGATHERV:
		ring(&t);
		break;
	case ZGRAPH_ALLTOALL:
	case ZGRAPH_ALLTOALLV:
	case ZGRAPH_ALLTOALLW:
	case ZGRAPH_REDUCE_SCATTER:
	case ZGRAPH_REDUCE_SCATTER_BLOCK:
		direct(&t);
		break;
	case ZGRAPH_SCAN:
	case ZGRAPH_EXSCAN:
		chain(&t);
		break;
	default:
		return zerr_set(err, -EINVAL, "no collective of the model");
	}
	return t.rc;
}
