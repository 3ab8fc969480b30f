/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction: native in each part, whose leaders send the parts' results to the root, which combines them in the order
 * of the parts. Large vectors go through these stages as a pipeline of segments, several of them side by side where a
 * part has several leaders (strips.h).
 */
#include "libzip/coll/reduce.h"

#include "libzip/coll/across/flight.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/inorder.h"
#include "libzip/coll/strips.h"
#include "libzip/schedule/step.h"

enum stage { INSIDE, CROSS, COMBINE };

/* The buffers of a strip that is mine. */
struct buffers {
	struct zfold **fold; /* at the root: each has a temporary buffer for each other part; [depth] in turns */
	void **temp;	     /* away from the root: results of my part, [depth + 1] in turns */
};

struct reduction {
	const struct zcoll *a;
	struct zsegments g;
	struct zstrip *strips;	 /* [g.strips] */
	struct zflight *flights; /* [g.strips] */
	struct buffers *buffers; /* [g.strips] */
	bool is_root, remote;	 /* remote: the root is in another part */
};

/* The root receives the parts' results from the leaders of the strips. */
static int receive(struct zsched *s, const struct reduction *x, int l, int k)
{
	struct zcomm *c = zsched_comm(s);
	struct zflight *flight = &x->flights[l];
	int i = k / x->g.strips, rc = MPI_SUCCESS;
	const struct zfold *fold = x->buffers[l].fold[i % flight->depth];
	zflight_begin(flight, s, i);
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (p != c->my_part)
			rc = zstep_recv(s, fold->inputs[p], zsegments_count(&x->g, k), fold->type,
				c->parts[p].member[zleader_first(c->parts[p].count, x->g.strips, l)]);
	}
	zflight_end(flight, s, i);
	return rc;
}

static int combine(struct zsched *s, const struct zfold *fold, void *result, MPI_Count count)
{
	void **inputs = zfold_add(s, fold->n, result, count, fold->type, fold->op);
	for (int p = 0; inputs && p < fold->n; p++)
		inputs[p] = p == zsched_comm(s)->my_part ? result : fold->inputs[p];
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int build_at_root(struct zsched *s, const struct reduction *x, int l, int k, enum stage stage)
{
	const struct zstrip *strip = &x->strips[l];
	const void *own = zstrips_own(&x->g, x->a, strip, k);
	void *result = zsegments_at(&x->g, x->a->recvbuf, k);
	MPI_Count count = zsegments_count(&x->g, k);
	if (stage == INSIDE)
		return zsubtotal_start(&strip->in, s, own, result, count);
	if (stage == COMBINE)
		return combine(s, x->buffers[l].fold[k / x->g.strips % x->flights[l].depth], result, count);
	int rc = zsubtotal_finish(&strip->in, s, own, result, count);
	return rc == MPI_SUCCESS ? receive(s, x, l, k) : rc;
}

/* In other ranks: reduces inside, at a leader into one of several buffers, from which others are still sent. */
static int build_away(struct zsched *s, const struct reduction *x, int l, int k, enum stage stage)
{
	const struct zstrip *strip = &x->strips[l];
	const void *own = zsegments_at(&x->g, x->a->sendbuf, k);
	void **temps = x->buffers[l].temp;
	int i = k / x->g.strips;
	void *temp = temps ? temps[i % (x->flights[l].depth + 1)] : NULL;
	MPI_Count count = zsegments_count(&x->g, k);
	if (stage == INSIDE)
		return zsubtotal_start(&strip->in, s, own, strip->mine ? temp : NULL, count);
	if (stage == COMBINE || !strip->mine || !x->remote)
		return MPI_SUCCESS;
	int rc = zsubtotal_finish(&strip->in, s, own, temp, count);
	if (rc != MPI_SUCCESS)
		return rc;
	zflight_begin(&x->flights[l], s, i);
	rc = zstep_send(s, temp, count, x->a->recvtype, x->a->root);
	zflight_end(&x->flights[l], s, i);
	return rc;
}

static int make_folds(struct zsched *s, const struct reduction *x, int l)
{
	const struct zcoll *a = x->a;
	size_t n = (size_t)x->flights[l].depth;
	struct zfold **fold = x->buffers[l].fold = zsched_alloc(s, n * sizeof(struct zfold *));
	for (size_t i = 0; fold && i < n; i++) {
		fold[i] = zfold_create(s, zsched_comm(s)->nparts, a->recvbuf, zsegments_count(&x->g, 0), a->recvtype,
			a->op);
		if (!fold[i])
			return MPI_ERR_NO_MEM;
	}
	return fold ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int make_buffers(struct zsched *s, const struct reduction *x, int l, int depth)
{
	x->buffers[l] = (struct buffers){NULL, NULL};
	if (!x->strips[l].mine)
		return MPI_SUCCESS;
	int rc = zflight_init(&x->flights[l], s, depth);
	if (rc != MPI_SUCCESS)
		return rc;
	return x->is_root ? make_folds(s, x, l)
			  : zbuf_temps(s, zsegments_count(&x->g, 0), x->a->recvtype,
				    depth < x->g.groups ? depth + 1 : depth, &x->buffers[l].temp);
}

/* Group i of the segments is reduced inside in round i, crosses in the next rounds, and is combined in the round behind
 * them. */
static int build_round(struct zsched *s, const struct reduction *x, int round, int depth)
{
	int rc = MPI_SUCCESS;
	for (int stage = COMBINE; stage >= INSIDE; stage--) {
		int i = round - (stage == COMBINE ? 1 + depth : stage);
		for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
			int k = zsegments_number(&x->g, i, l);
			if (k >= 0)
				rc = (x->is_root ? build_at_root : build_away)(s, x, l, k, (enum stage)stage);
		}
	}
	if (rc == MPI_SUCCESS)
		rc = zflight_land_strips(x->flights, s, &x->g, round - depth);
	zsched_round(s);
	return rc;
}

static int build_by_part(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct reduction x = {.a = a,
		.g = zstrips_cut(s, ZTUNING_REDUCE, a->recvcount, a->recvtype),
		.is_root = c->rank == a->root,
		.remote = !zcomm_is_local_rank(c, a->root)};
	int depth = zflight_depth(&x.g.tune, x.g.groups);
	x.flights = zflight_strips(s, x.g.strips);
	x.buffers = zsched_alloc(s, (size_t)x.g.strips * sizeof *x.buffers);
	int rc = x.flights && x.buffers
			 ? zstrips_make(s, &x.g, a, x.remote ? -1 : zcomm_shadow_rank(c, a->root), &x.strips)
			 : MPI_ERR_NO_MEM;
	for (int l = 0; l < x.g.strips && rc == MPI_SUCCESS; l++)
		rc = make_buffers(s, &x, l, depth);
	for (int round = 0; round < x.g.groups + 1 + depth && rc == MPI_SUCCESS; round++)
		rc = build_round(s, &x, round, depth);
	return rc;
}

int zreduce_build(struct zsched *s, const struct zcoll *a)
{
	return zinorder_is_needed(zsched_comm(s), a->op) ? zinorder_reduce(s, a, a->root) : build_by_part(s, a);
}
