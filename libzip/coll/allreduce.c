/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allreduce: a reduction in each part, an exchange of the parts' results in stages (between.h), and a broadcast
 * inside each part. Large vectors go through these as a pipeline of segments, several of them side by side where a part
 * has several leaders (strips.h).
 *
 * The result is the same in all parts, bit for bit: all of them combine the same values in the same order, except
 * operands that can change places (zredop_exchanges). Where parts differ in representation, their arithmetic may
 * differ.
 */
#include "libzip/coll/allreduce.h"

#include "libzip/coll/across/between.h"
#include "libzip/coll/across/flight.h"
#include "libzip/coll/bcast.h"
#include "libzip/coll/inorder.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/strips.h"

struct allreduce {
	const struct zcoll *a;
	struct zsegments g;
	struct zstrip *strips;	   /* [g.strips] */
	struct zbetween **between; /* [g.strips]: of the strips that I lead */
	int depth, last;	   /* the last stage */
};

/* A stage of group i. The group is reduced inside in round i (stage 0), goes through the stages between the parts from
 * round i + 1 on, depth rounds each, and is spread inside in the round behind them (stage last). */
static int build_group(struct zsched *s, const struct allreduce *x, int i, int stage)
{
	const struct zsegments *g = &x->g;
	int rc = MPI_SUCCESS;
	for (int l = 0; l < g->strips && rc == MPI_SUCCESS; l++) {
		const struct zstrip *strip = &x->strips[l];
		int k = zsegments_number(g, i, l);
		if (k < 0)
			continue;
		void *result = zsegments_at(g, x->a->recvbuf, k);
		const void *own = zstrips_own(g, x->a, strip, k);
		MPI_Count count = zsegments_count(g, k);
		if (stage == 0)
			rc = zsubtotal_start(&strip->in, s, own, strip->mine ? result : NULL, count);
		if (stage == 1 && strip->mine)
			rc = zsubtotal_finish(&strip->in, s, own, result, count);
		if (stage > 0 && strip->mine && rc == MPI_SUCCESS)
			rc = zbetween_add(s, x->between[l], i, stage, result, count);
		if (stage == x->last && zsched_comm(s)->nlocal > 1 && rc == MPI_SUCCESS)
			rc = zinside_bcast(s, result, count, x->a->recvtype, strip->root);
	}
	return rc;
}

static int land_group(struct zsched *s, const struct allreduce *x, int i, int stage)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++)
		if (x->strips[l].mine && zsegments_number(&x->g, i, l) >= 0)
			rc = zbetween_land(s, x->between[l], i, stage);
	return rc;
}

static int build_round(struct zsched *s, const struct allreduce *x, int round)
{
	int rc = MPI_SUCCESS;
	for (int stage = x->last; stage >= 0 && rc == MPI_SUCCESS; stage--) {
		int i = stage > 0 ? round - 1 - (stage - 1) * x->depth : round;
		if (i >= 0 && i < x->g.groups)
			rc = build_group(s, x, i, stage);
	}
	for (int stage = 1; stage < x->last && rc == MPI_SUCCESS; stage++) {
		int i = round - stage * x->depth;
		if (i >= 0 && i < x->g.groups)
			rc = land_group(s, x, i, stage);
	}
	zsched_round(s);
	return rc;
}

static int build_by_part(struct zsched *s, const struct zcoll *a)
{
	struct allreduce x = {.a = a, .g = zstrips_cut(s, ZTUNING_ALLREDUCE, a->recvcount, a->recvtype)};
	x.last = zbetween_stages(s, &x.g.tune) + 1;
	x.depth = zflight_depth(&x.g.tune, x.g.groups);
	x.between = zsched_alloc(s, (size_t)x.g.strips * sizeof(struct zbetween *));
	int rc = x.between ? zstrips_make(s, &x.g, a, -1, &x.strips) : MPI_ERR_NO_MEM;
	for (int l = 0; l < x.g.strips && rc == MPI_SUCCESS; l++) {
		if (!x.strips[l].mine)
			continue;
		x.between[l] = zbetween_create(s, &x.g.tune, x.g.strips, l, x.depth, zsegments_count(&x.g, 0),
			a->recvtype, a->op);
		rc = x.between[l] ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	}
	for (int round = 0; round < x.g.groups + 1 + (x.last - 1) * x.depth && rc == MPI_SUCCESS; round++)
		rc = build_round(s, &x, round);
	return rc;
}

int zallreduce_build(struct zsched *s, const struct zcoll *a)
{
	if (!zinorder_is_needed(zsched_comm(s), a->op))
		return build_by_part(s, a);
	int rc = zinorder_reduce(s, a, 0);
	return rc == MPI_SUCCESS ? zbcast_add(s, a->recvbuf, a->recvcount, a->recvtype, 0) : rc;
}
