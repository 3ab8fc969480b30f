/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce and MPI_Allreduce: native reduction in each part, exchange of the parts' results,
 * combination in the order of the parts; Allreduce then spreads it inside. Large vectors go through
 * these stages as a pipeline of segments, several of them side by side where there are several
 * leaders in each part: each leads its lane.
 *
 * The result of Allreduce is the same, bit for bit, in all parts: whatever is combined is combined
 * from the same values in the same order, but for operands that can change places (zredop_exchanges).
 * (Where the parts differ in representation, their arithmetic may too.)
 */
#include "libzip/coll/across/coll_across.h"
#include "libzip/coll/across/coll_between.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/across/coll_flight.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/coll/coll_forms.h"
#include "libzip/coll/inside/coll_inside.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/coll/across/coll_segments.h"
#include "libzip/coll/tune.h"
#include "libzip/type/redop.h"

/* Who leads a lane in my part, and what it needs for that. */
struct lane {
	int root; /* rank in the shadow */
	bool mine;
	struct zinside in;
	struct zbetween *between; /* Allreduce, mine */
	struct zflight *flight;	  /* Reduce, mine: of its flights */
	struct zfold **fold;	  /* Reduce, at its root: a temporary buffer for each other part, [depth] in turns */
	void **temp;		  /* Reduce, mine, away from the root: the results in my part, [depth + 1] in turns */
};

static struct zsegments cut(struct zsched *s, enum ztuning_collective which, MPI_Count count, MPI_Datatype type)
{
	struct zcomm *c = zsched_comm(s);
	struct ztuning_settings tune = ztune_choose(c, which, zbuf_wire_bytes(count, type));
	return zsegments_cut(&tune, c->members_min, count, type);
}

/* The lanes of my part: led by its leaders, or all by one (a rank in the shadow). */
static int make_lanes(struct zsched *s, const struct zsegments *g, const struct zcoll *a, int one, struct lane **lanes)
{
	struct zcomm *c = zsched_comm(s);
	*lanes = zsched_alloc(s, (size_t)g->lanes * sizeof **lanes);
	int rc = *lanes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < g->lanes && rc == MPI_SUCCESS; l++) {
		struct lane *lane = &(*lanes)[l];
		*lane = (struct lane){.root = one >= 0 ? one : zcoll_first(c->nlocal, g->lanes, l)};
		lane->mine = lane->root == c->shadow_rank[c->rank];
		rc = zinside_init(&lane->in, s, &g->tune, zsegments_count(g, 0), a->recvtype, a->op, lane->root);
	}
	return rc;
}

/* What is mine of a segment, for the reduction inside: result is where it is to be combined. */
static const void *own_segment(const struct zsegments *g, const struct zcoll *a, const struct lane *lane, int k)
{
	if (a->sendbuf != MPI_IN_PLACE)
		return zsegments_at(g, a->sendbuf, k);
	return lane->mine ? MPI_IN_PLACE : zsegments_at(g, a->recvbuf, k);
}

/* Allreduce. Group i is reduced inside in round i, goes through the stages between the parts from round i + 1 on, depth
 * rounds each, and is spread inside in the one after the last of them. */
static int build_group(struct zsched *s, const struct zcoll *a, const struct zsegments *g, struct lane *lanes, int i,
	int stage, int last)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	for (int l = 0; l < g->lanes && rc == MPI_SUCCESS; l++) {
		struct lane *lane = &lanes[l];
		int k = zsegments_number(g, i, l);
		if (k < 0)
			continue;
		void *result = zsegments_at(g, a->recvbuf, k);
		MPI_Count count = zsegments_count(g, k);
		if (stage == 0)
			rc = zinside_start(&lane->in, s, own_segment(g, a, lane, k), lane->mine ? result : NULL, count);
		if (stage == 1 && lane->mine)
			rc = zinside_finish(&lane->in, s, own_segment(g, a, lane, k), result, count);
		if (stage > 0 && lane->mine && rc == MPI_SUCCESS)
			rc = zbetween_add(s, lane->between, i, stage, result, count);
		if (stage == last && c->nlocal > 1 && rc == MPI_SUCCESS)
			rc = znative_bcast(s, result, count, a->recvtype, lane->root);
	}
	return rc;
}

static int land_group(struct zsched *s, const struct zsegments *g, const struct lane *lanes, int i, int stage)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < g->lanes && rc == MPI_SUCCESS; l++)
		if (lanes[l].mine && zsegments_number(g, i, l) >= 0)
			rc = zbetween_land(s, lanes[l].between, i, stage);
	return rc;
}

static int build_round(struct zsched *s, const struct zcoll *a, const struct zsegments *g, struct lane *lanes,
	int round, int depth, int last)
{
	int rc = MPI_SUCCESS;
	for (int stage = last; stage >= 0 && rc == MPI_SUCCESS; stage--) {
		int i = stage > 0 ? round - 1 - (stage - 1) * depth : round;
		if (i >= 0 && i < g->groups)
			rc = build_group(s, a, g, lanes, i, stage, last);
	}
	for (int stage = 1; stage < last && rc == MPI_SUCCESS; stage++) {
		int i = round - stage * depth;
		if (i >= 0 && i < g->groups)
			rc = land_group(s, g, lanes, i, stage);
	}
	zsched_round(s);
	return rc;
}

static int build_allreduce(struct zsched *s, const struct zcoll *a)
{
	struct zsegments g = cut(s, ZTUNING_ALLREDUCE, a->recvcount, a->recvtype);
	int last = zbetween_stages(s, &g.tune) + 1, depth = zflight_depth(&g.tune, g.groups);
	struct lane *lanes;
	int rc = make_lanes(s, &g, a, -1, &lanes);
	for (int l = 0; l < g.lanes && rc == MPI_SUCCESS; l++) {
		if (!lanes[l].mine)
			continue;
		lanes[l].between =
			zbetween_create(s, &g.tune, g.lanes, l, depth, zsegments_count(&g, 0), a->recvtype, a->op);
		rc = lanes[l].between ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	}
	for (int round = 0; round < g.groups + 1 + (last - 1) * depth && rc == MPI_SUCCESS; round++)
		rc = build_round(s, a, &g, lanes, round, depth, last);
	return rc;
}

/* Reduce at its root: the parts' results come from the leaders of the lanes. */
static int recv_partials(struct zsched *s, struct lane *lane, const struct zsegments *g, int l, int k)
{
	struct zcomm *c = zsched_comm(s);
	int i = k / g->lanes, rc = MPI_SUCCESS;
	const struct zfold *fold = lane->fold[i % lane->flight->depth];
	zflight_begin(lane->flight, s, i);
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (p != c->my_part)
			rc = zstep_recv(s, fold->inputs[p], zsegments_count(g, k), fold->type,
				c->parts[p].member[zcoll_first(c->parts[p].count, g->lanes, l)]);
	}
	zflight_end(lane->flight, s, i);
	return rc;
}

static int add_fold(struct zsched *s, const struct zfold *of_lane, void *result, MPI_Count count)
{
	void **inputs = zfold_add(s, of_lane->n, result, count, of_lane->type, of_lane->op);
	for (int p = 0; inputs && p < of_lane->n; p++)
		inputs[p] = p == zsched_comm(s)->my_part ? result : of_lane->inputs[p];
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

enum { INSIDE, CROSS, COMBINE };

static int build_root_segment(struct zsched *s, const struct zcoll *a, const struct zsegments *g, struct lane *lane,
	int l, int k, int stage)
{
	void *result = zsegments_at(g, a->recvbuf, k);
	MPI_Count count = zsegments_count(g, k);
	if (stage == INSIDE)
		return zinside_start(&lane->in, s, own_segment(g, a, lane, k), result, count);
	if (stage == COMBINE)
		return add_fold(s, lane->fold[k / g->lanes % lane->flight->depth], result, count);
	int rc = zinside_finish(&lane->in, s, own_segment(g, a, lane, k), result, count);
	return rc == MPI_SUCCESS ? recv_partials(s, lane, g, l, k) : rc;
}

/* Away from the root's rank: reduced inside, at a leader into one of several buffers, while the others are sent. */
static int build_member_segment(struct zsched *s, const struct zcoll *a, const struct zsegments *g, struct lane *lane,
	int k, int stage, bool remote)
{
	int i = k / g->lanes;
	void *temp = lane->temp ? lane->temp[i % (lane->flight->depth + 1)] : NULL;
	MPI_Count count = zsegments_count(g, k);
	if (stage == INSIDE)
		return zinside_start(&lane->in, s, zsegments_at(g, a->sendbuf, k), lane->mine ? temp : NULL, count);
	if (stage == COMBINE || !lane->mine || !remote)
		return MPI_SUCCESS;
	int rc = zinside_finish(&lane->in, s, zsegments_at(g, a->sendbuf, k), temp, count);
	if (rc != MPI_SUCCESS)
		return rc;
	zflight_begin(lane->flight, s, i);
	rc = zstep_send(s, temp, count, a->recvtype, a->root);
	zflight_end(lane->flight, s, i);
	return rc;
}

static int make_folds(struct zsched *s, const struct zcoll *a, MPI_Count longest, struct lane *lane)
{
	size_t n = (size_t)lane->flight->depth;
	lane->fold = zsched_alloc(s, n * sizeof *lane->fold);
	for (size_t i = 0; lane->fold && i < n; i++) {
		lane->fold[i] = zfold_create(s, zsched_comm(s)->nparts, a->recvbuf, longest, a->recvtype, a->op);
		if (!lane->fold[i])
			return MPI_ERR_NO_MEM;
	}
	return lane->fold ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int make_reduce_buffers(struct zsched *s, const struct zcoll *a, const struct zsegments *g, struct lane *lane)
{
	MPI_Count longest = zsegments_count(g, 0);
	int depth = zflight_depth(&g->tune, g->groups), rc = MPI_SUCCESS;
	if (lane->mine)
		rc = zflight_init(lane->flight, s, depth);
	if (rc != MPI_SUCCESS || !lane->mine)
		return rc;
	if (zsched_comm(s)->rank == a->root)
		return make_folds(s, a, longest, lane);
	return zbuf_temps(s, longest, a->recvtype, depth < g->groups ? depth + 1 : depth, &lane->temp);
}

static int build_reduce(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct zsegments g = cut(s, ZTUNING_REDUCE, a->recvcount, a->recvtype);
	bool remote = !zcomm_is_local_rank(c, a->root);
	struct lane *lanes;
	struct zflight *flights = zflight_lanes(s, g.lanes);
	int rc = flights ? make_lanes(s, &g, a, remote ? -1 : c->shadow_rank[a->root], &lanes) : MPI_ERR_NO_MEM;
	for (int l = 0; l < g.lanes && rc == MPI_SUCCESS; l++) {
		lanes[l].flight = &flights[l];
		rc = make_reduce_buffers(s, a, &g, &lanes[l]);
	}
	int depth = zflight_depth(&g.tune, g.groups);
	for (int round = 0; round < g.groups + 1 + depth && rc == MPI_SUCCESS; round++) {
		for (int stage = COMBINE; stage >= INSIDE; stage--) {
			int i = round - (stage == COMBINE ? 1 + depth : stage);
			for (int l = 0; l < g.lanes && rc == MPI_SUCCESS; l++) {
				int k = zsegments_number(&g, i, l);
				if (k >= 0 && c->rank == a->root)
					rc = build_root_segment(s, a, &g, &lanes[l], l, k, stage);
				else if (k >= 0)
					rc = build_member_segment(s, a, &g, &lanes[l], k, stage, remote);
			}
		}
		if (rc == MPI_SUCCESS)
			rc = zflight_land_lanes(flights, s, &g, round - depth);
		zsched_round(s);
	}
	return rc;
}

static bool rank_order_needs_gathering(const struct zcomm *c, MPI_Op op)
{
	return !c->blocked && !zredop_commutes(op);
}

static int build_ordered(struct zsched *s, const struct zcoll *a, int root)
{
	const void *sendbuf = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
	struct zgathered all;
	int rc = zbuild_gather_all(s, sendbuf, a->recvcount, a->recvtype, root, &all);
	if (rc == MPI_SUCCESS && all.buf)
		rc = zbuild_fold_all(s, &all, a->recvbuf, a->recvcount, a->recvtype, a->op);
	return rc;
}

int zbuild_reduce(struct zsched *s, const struct zcoll *a)
{
	return rank_order_needs_gathering(zsched_comm(s), a->op) ? build_ordered(s, a, a->root) : build_reduce(s, a);
}

int zbuild_allreduce(struct zsched *s, const struct zcoll *a)
{
	if (!rank_order_needs_gathering(zsched_comm(s), a->op))
		return build_allreduce(s, a);
	int rc = build_ordered(s, a, 0);
	return rc == MPI_SUCCESS ? zbuild_bcast(s, a->recvbuf, a->recvcount, a->recvtype, 0) : rc;
}

static int take_common(struct zsched *s, struct zcoll *a, bool result)
{
	int rc = zcheck_op(a->op);
	if (rc == MPI_SUCCESS && result && a->sendbuf == a->recvbuf && a->recvcount > 0)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && result && a->sendbuf != MPI_IN_PLACE)
		rc = zcheck_data(a->sendbuf, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS)
		rc = ztake_data(s, result ? a->recvbuf : a->sendbuf, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

static int take_reduce(struct zsched *s, struct zcoll *a)
{
	int rc = zcheck_root(s, a->root);
	return rc == MPI_SUCCESS ? take_common(s, a, zsched_comm(s)->rank == a->root) : rc;
}

static int take_allreduce(struct zsched *s, struct zcoll *a)
{
	return take_common(s, a, true);
}

/* Between groups. There is no MPI_IN_PLACE, and the root has no operand. */
static int take_side(struct zsched *s, struct zcoll *a, const void *buf)
{
	int rc = zcheck_op(a->op);
	if (rc == MPI_SUCCESS)
		rc = ztake_data(s, buf, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

static int take_result(struct zsched *s, struct zcoll *a)
{
	return take_side(s, a, a->recvbuf);
}

static int take_operand(struct zsched *s, struct zcoll *a)
{
	return take_side(s, a, a->sendbuf);
}

static int take_reduce_across(struct zsched *s, struct zcoll *a)
{
	return ztake_rooted(s, a, take_result, take_operand);
}

static int take_allreduce_across(struct zsched *s, struct zcoll *a)
{
	return ztake_both(s, a, take_allreduce);
}

static const struct zcoll_across reduce_across = {take_reduce_across, zacross_reduce};
static const struct zcoll_across allreduce_across = {take_allreduce_across, zacross_allreduce};

#define REDUCE_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm
ZCOLL_FORMS(Reduce, Ireduce, REDUCE_PARAMS, (sendbuf, recvbuf, count, datatype, op, root, comm),
	(.take = take_reduce, .build = zbuild_reduce, .across = &reduce_across, .sendbuf = sendbuf, .recvbuf = recvbuf,
		.recvcount = count, .recvtype = datatype, .op = op, .root = root))

#define ALLREDUCE_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Allreduce, Iallreduce, ALLREDUCE_PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take_allreduce, .build = zbuild_allreduce, .across = &allreduce_across, .sendbuf = sendbuf,
		.recvbuf = recvbuf, .recvcount = count, .recvtype = datatype, .op = op))
