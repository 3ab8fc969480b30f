/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce and MPI_Allreduce: native reduction in each part, exchange of the parts' results,
 * combination in the order of the parts; Allreduce then spreads it inside. Large vectors go through
 * these three stages as a pipeline of segments.
 *
 * The result of Allreduce is the same, bit for bit, in all parts: every leader combines the same
 * values in the same order. (Where the parts differ in representation, their arithmetic may too.)
 */
#include "coll_data.h"
#include "coll_fold.h"
#include "coll_forms.h"
#include "coll_inside.h"
#include "coll_native.h"
#include "tune.h"

/* A vector cut into n segments of whole elements. */
struct segments {
	MPI_Count count, each;
	MPI_Aint extent;
	int n; /* at least one, which may be empty */
	struct ztuning_settings tune;
};

/* The sizes on the wire are the same everywhere, in memory they need not be. */
static struct segments cut(struct zsched *s, enum ztuning_collective which, MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = zbuf_wire_bytes(1, type);
	struct segments g = {.count = count,
		.extent = zbuf_extent(type),
		.tune = ztune_choose(zsched_comm(s), which, count * size)};
	g.each = size > 0 ? g.tune.segment / size : count;
	if (g.each < 1)
		g.each = 1;
	if (g.each * g.tune.segments < count)
		g.each = (count + g.tune.segments - 1) / g.tune.segments;
	g.n = count > 0 ? (int)((count + g.each - 1) / g.each) : 1;
	return g;
}

static MPI_Count segment_count(const struct segments *g, int k)
{
	MPI_Count left = g->count - g->each * k;
	return left < g->each ? left : g->each;
}

static void *segment_at(const struct segments *g, const void *buf, int k)
{
	return zbuf_at(buf, g->each * k, g->extent);
}

static const void *own_segment(const struct segments *g, const void *sendbuf, int k)
{
	return sendbuf == MPI_IN_PLACE ? MPI_IN_PLACE : segment_at(g, sendbuf, k);
}

/* Fold number k: the same temporary buffers for all, they are free again when the next segment is
 * received. */
static struct zfold *segment_fold(
	struct zsched *s, const struct zfold *first, const struct segments *g, void *result, int k)
{
	int mine = zsched_comm(s)->my_part;
	struct zfold *f = zsched_alloc(s, sizeof *f);
	if (!f)
		return NULL;
	*f = *first;
	f->count = segment_count(g, k);
	f->result = segment_at(g, result, k);
	f->inputs = zsched_alloc(s, (size_t)f->n * sizeof *f->inputs);
	if (!f->inputs)
		return NULL;
	for (int p = 0; p < f->n; p++)
		f->inputs[p] = p == mine ? f->result : first->inputs[p];
	return f;
}

static int recv_partials(struct zsched *s, const struct zfold *f)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (p != c->my_part)
			rc = zsched_recv(s, f->inputs[p], f->count, f->type, c->parts[p].leader);
	}
	return rc;
}

static int send_partial(struct zsched *s, const struct zfold *f)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (p != c->my_part)
			rc = zsched_send(s, f->result, f->count, f->type, c->parts[p].leader);
	}
	return rc;
}

/* Where the partial results come together: the root of Reduce (exchange false), every leader in
 * Allreduce. Round k: combine and spread segment k - 2, exchange segment k - 1, reduce segment k
 * inside the part. */
static int build_combiner(struct zsched *s, const struct zcoll *a, int native_root, bool exchange)
{
	struct zcomm *c = zsched_comm(s);
	struct segments g = cut(s, exchange ? ZTUNING_ALLREDUCE : ZTUNING_REDUCE, a->recvcount, a->recvtype);
	struct zfold **folds = zsched_alloc(s, (size_t)g.n * sizeof(struct zfold *));
	struct zfold *first = zfold_create(s, c->nparts, a->recvbuf, segment_count(&g, 0), a->recvtype, a->op);
	struct zinside in;
	int rc = folds && first ? zinside_init(&in, s, &g.tune, segment_count(&g, 0), a->recvtype, a->op, native_root)
				: MPI_ERR_NO_MEM;
	for (int k = 0; k < g.n && rc == MPI_SUCCESS; k++) {
		folds[k] = segment_fold(s, first, &g, a->recvbuf, k);
		if (!folds[k])
			rc = MPI_ERR_NO_MEM;
	}
	for (int k = 0; k < g.n + 2 && rc == MPI_SUCCESS; k++) {
		if (k >= 2) {
			struct zfold *f = folds[k - 2];
			rc = zsched_call(s, zfold_call, f);
			if (rc == MPI_SUCCESS && exchange && c->nlocal > 1)
				rc = znative_bcast(s, f->result, f->count, f->type, 0);
		}
		if (k >= 1 && k <= g.n && rc == MPI_SUCCESS) {
			rc = zinside_finish(
				&in, s, own_segment(&g, a->sendbuf, k - 1), folds[k - 1]->result, folds[k - 1]->count);
			if (rc == MPI_SUCCESS)
				rc = recv_partials(s, folds[k - 1]);
			if (rc == MPI_SUCCESS && exchange)
				rc = send_partial(s, folds[k - 1]);
		}
		if (k < g.n && rc == MPI_SUCCESS)
			rc = zinside_start(&in, s, own_segment(&g, a->sendbuf, k), folds[k]->result, folds[k]->count);
		zsched_round(s);
	}
	return rc;
}

/* The others of a part: only the native steps, in the same order. sendbuf is not MPI_IN_PLACE. */
static int build_member(struct zsched *s, const struct zcoll *a, const void *sendbuf, int native_root, bool spread)
{
	struct segments g = cut(s, spread ? ZTUNING_ALLREDUCE : ZTUNING_REDUCE, a->recvcount, a->recvtype);
	struct zinside in;
	int rc = zinside_init(&in, s, &g.tune, segment_count(&g, 0), a->recvtype, a->op, native_root);
	for (int k = 0; k < g.n + 2 && rc == MPI_SUCCESS; k++) {
		if (k >= 2 && spread)
			rc = znative_bcast(
				s, segment_at(&g, a->recvbuf, k - 2), segment_count(&g, k - 2), a->recvtype, 0);
		if (k < g.n && rc == MPI_SUCCESS)
			rc = zinside_start(&in, s, segment_at(&g, sendbuf, k), NULL, segment_count(&g, k));
		zsched_round(s);
	}
	return rc;
}

/* A leader away from the root: reduce segment k into one of two buffers while the other is sent. */
static int build_sender(struct zsched *s, const struct zcoll *a)
{
	struct segments g = cut(s, ZTUNING_REDUCE, a->recvcount, a->recvtype);
	struct zinside in;
	void *temp[2];
	int rc = zinside_init(&in, s, &g.tune, segment_count(&g, 0), a->recvtype, a->op, 0);
	if (rc == MPI_SUCCESS)
		rc = zbuf_temp(s, segment_count(&g, 0), a->recvtype, &temp[0]);
	temp[1] = temp[0];
	if (rc == MPI_SUCCESS && g.n > 1)
		rc = zbuf_temp(s, g.each, a->recvtype, &temp[1]);
	for (int k = 0; k <= g.n && rc == MPI_SUCCESS; k++) {
		if (k > 0) {
			MPI_Count count = segment_count(&g, k - 1);
			rc = zinside_finish(&in, s, segment_at(&g, a->sendbuf, k - 1), temp[(k - 1) % 2], count);
			if (rc == MPI_SUCCESS)
				rc = zsched_send(s, temp[(k - 1) % 2], count, a->recvtype, a->root);
		}
		if (k < g.n && rc == MPI_SUCCESS)
			rc = zinside_start(&in, s, segment_at(&g, a->sendbuf, k), temp[k % 2], segment_count(&g, k));
		zsched_round(s);
	}
	return rc;
}

static bool rank_order_needs_gathering(const struct zcomm *c, MPI_Op op)
{
	return !c->blocked && !zbuf_op_commutes(op);
}

static int build_ordered(struct zsched *s, const struct zcoll *a, int root)
{
	const void *sendbuf = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
	void *all;
	int rc = zbuild_gather_all(s, sendbuf, a->recvcount, a->recvtype, root, &all);
	if (rc == MPI_SUCCESS && all)
		rc = zbuild_fold_all(s, all, a->recvbuf, a->recvcount, a->recvtype, a->op);
	return rc;
}

int zbuild_reduce(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	if (rank_order_needs_gathering(c, a->op))
		return build_ordered(s, a, a->root);
	if (c->rank == a->root)
		return build_combiner(s, a, c->shadow_rank[a->root], false);
	if (zcomm_is_local_rank(c, a->root))
		return build_member(s, a, a->sendbuf, c->shadow_rank[a->root], false);
	return zcoll_is_leader(c) ? build_sender(s, a) : build_member(s, a, a->sendbuf, 0, false);
}

int zbuild_allreduce(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	if (rank_order_needs_gathering(c, a->op)) {
		int rc = build_ordered(s, a, 0);
		return rc == MPI_SUCCESS ? zbuild_bcast(s, a->recvbuf, a->recvcount, a->recvtype, 0) : rc;
	}
	if (zcoll_is_leader(c))
		return build_combiner(s, a, 0, true);
	return build_member(s, a, a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf, 0, true);
}

static int take_common(struct zsched *s, struct zcoll *a, bool result)
{
	int rc = zcheck_op(a->op);
	if (rc == MPI_SUCCESS && result && a->sendbuf == a->recvbuf && a->recvcount > 0)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS)
		rc = ztake_data(s, result ? a->recvbuf : a->sendbuf, a->recvcount, &a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

static int take_reduce(struct zsched *s, struct zcoll *a)
{
	int rc = zcheck_root(zsched_comm(s), a->root);
	return rc == MPI_SUCCESS ? take_common(s, a, zsched_comm(s)->rank == a->root) : rc;
}

static int take_allreduce(struct zsched *s, struct zcoll *a)
{
	return take_common(s, a, true);
}

#define REDUCE_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm
ZCOLL_FORMS(Reduce, Ireduce, REDUCE_PARAMS, (sendbuf, recvbuf, count, datatype, op, root, comm),
	(.take = take_reduce, .build = zbuild_reduce, .sendbuf = sendbuf, .recvbuf = recvbuf, .recvcount = count,
		.recvtype = datatype, .op = op, .root = root))

#define ALLREDUCE_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Allreduce, Iallreduce, ALLREDUCE_PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take_allreduce, .build = zbuild_allreduce, .sendbuf = sendbuf, .recvbuf = recvbuf, .recvcount = count,
		.recvtype = datatype, .op = op))
