/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Scan and MPI_Exscan. Ranks of each part consecutive: native scan inside; the last member of a
 * part sends its part's total to the leaders of all later parts, which combine the totals before
 * theirs, spread that prefix, and every member puts it in front. Interleaved ranks: gathered at
 * rank 0, combined in order, scattered.
 */
#include "coll_data.h"
#include "coll_fold.h"
#include "coll_forms.h"
#include "coll_leaders.h"
#include "coll_native.h"
#include "tune.h"

struct scan {
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	void *recvbuf;
	void *total;  /* of my part, on its last member */
	void *prefix; /* of the parts before mine */
	char *all;    /* interleaved, rank 0: the contributions, then their prefixes */
	bool exclusive;
};

static int add_to_total(struct zsched *s, void *arg)
{
	struct scan *n = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_reduce(n->recvbuf, n->total, n->count, n->type, n->op);
}

static int apply_prefix(struct zsched *s, void *arg)
{
	struct scan *n = arg;
	struct zcomm *c = zsched_comm(s);
	if (zsched_failed(s))
		return MPI_SUCCESS;
	if (n->exclusive && zcoll_is_leader(c)) /* nothing of its own part stands before it */
		return zbuf_copy(s, n->prefix, n->count, n->type, n->recvbuf, n->count, n->type);
	return zbuf_reduce(n->prefix, n->recvbuf, n->count, n->type, n->op);
}

/* As a broadcast sends it. */
static int send_total(struct zsched *s, const struct scan *n)
{
	struct zcomm *c = zsched_comm(s);
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_BCAST, zbuf_wire_bytes(n->count, n->type));
	int dest[ZCTL_PARTS_MAX], ndest = 0;
	for (int p = c->my_part + 1; p < c->nparts; p++)
		dest[ndest++] = c->parts[p].leader;
	return zbuild_to_several(s, n->total, n->count, n->type, dest, ndest, &tune);
}

/* Not on the first part. The leader's receives belong to the round of the members' sends. */
static int build_prefix(struct zsched *s, struct scan *n)
{
	struct zcomm *c = zsched_comm(s);
	struct zfold *f = NULL;
	int rc = zbuf_temp(s, n->count, n->type, &n->prefix);
	if (rc == MPI_SUCCESS && zcoll_is_leader(c)) {
		f = zfold_create(s, c->my_part, n->prefix, n->count, n->type, n->op);
		rc = f ? MPI_SUCCESS : MPI_ERR_NO_MEM;
		for (int p = 0; p < c->my_part && rc == MPI_SUCCESS; p++)
			rc = zsched_recv(s, f->inputs[p], n->count, n->type,
				c->parts[p].leader + c->parts[p].count - 1);
	}
	zsched_round(s);
	if (rc == MPI_SUCCESS && f)
		rc = zsched_call(s, zfold_call, f);
	if (rc == MPI_SUCCESS && c->nlocal > 1)
		rc = znative_bcast(s, n->prefix, n->count, n->type, 0);
	zsched_round(s);
	return rc == MPI_SUCCESS ? zsched_call(s, apply_prefix, n) : rc;
}

static int build_blocked(struct zsched *s, const struct zcoll *a, struct scan *n)
{
	struct zcomm *c = zsched_comm(s);
	bool last = c->shadow_rank[c->rank] == c->nlocal - 1 && c->my_part < c->nparts - 1;
	const void *own = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
	int rc = MPI_SUCCESS;
	n->total = n->recvbuf;
	if (n->exclusive && last) {
		rc = zbuf_temp(s, n->count, n->type, &n->total);
		if (rc == MPI_SUCCESS)
			zbuf_copy_span(own, n->total, n->count, n->type);
	}
	if (rc == MPI_SUCCESS)
		rc = n->exclusive ? znative_exscan(s, a->sendbuf, n->recvbuf, n->count, n->type, n->op)
				  : znative_scan(s, a->sendbuf, n->recvbuf, n->count, n->type, n->op);
	zsched_round(s);
	if (rc == MPI_SUCCESS && n->exclusive && last && c->nlocal > 1)
		rc = zsched_call(s, add_to_total, n);
	if (rc == MPI_SUCCESS && last)
		rc = send_total(s, n);
	return rc == MPI_SUCCESS && c->my_part > 0 ? build_prefix(s, n) : rc;
}

static int make_prefixes(struct zsched *s, void *arg)
{
	struct scan *n = arg;
	int size = zsched_comm(s)->size, rc = MPI_SUCCESS;
	MPI_Aint extent = zbuf_extent(n->type);
	for (int r = 1; r < size && rc == MPI_SUCCESS && !zsched_failed(s); r++)
		rc = zbuf_reduce(zbuf_at(n->all, (r - 1) * n->count, extent), zbuf_at(n->all, r * n->count, extent),
			n->count, n->type, n->op);
	return rc;
}

static int build_interleaved(struct zsched *s, const struct zcoll *a, struct scan *n)
{
	struct zcomm *c = zsched_comm(s);
	void *all;
	MPI_Count *counts = zsched_alloc(s, (size_t)c->size * sizeof *counts);
	MPI_Aint *displs = zsched_alloc(s, (size_t)c->size * sizeof *displs);
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	for (int r = 0; r < c->size; r++) {
		counts[r] = n->exclusive && r == 0 ? 0 : n->count;
		displs[r] = n->exclusive && r > 0 ? (r - 1) * n->count : r * n->count;
	}
	int rc = zbuild_gather_all(s, a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf, n->count, n->type, 0, &all);
	if (rc == MPI_SUCCESS && all) {
		n->all = all;
		rc = zsched_call(s, make_prefixes, n);
		zsched_round(s);
	}
	if (rc != MPI_SUCCESS)
		return rc;
	struct zcoll scatter = {.vector = true,
		.sendbuf = all,
		.sendcounts = ZVEC(counts),
		.sdispls = ZVEC(displs),
		.sendtype = n->type,
		.recvbuf = n->recvbuf,
		.recvcount = counts[c->rank],
		.recvtype = n->type,
		.root = 0};
	return zbuild_scatter(s, &scatter);
}

static int build(struct zsched *s, const struct zcoll *a, bool exclusive)
{
	struct scan *n = zsched_alloc(s, sizeof *n);
	if (!n)
		return MPI_ERR_NO_MEM;
	*n = (struct scan){.count = a->recvcount,
		.type = a->recvtype,
		.op = a->op,
		.recvbuf = a->recvbuf,
		.exclusive = exclusive};
	int rc = zsched_comm(s)->blocked ? build_blocked(s, a, n) : build_interleaved(s, a, n);
	zsched_round(s);
	return rc;
}

static int build_scan(struct zsched *s, const struct zcoll *a)
{
	return build(s, a, false);
}

static int build_exscan(struct zsched *s, const struct zcoll *a)
{
	return build(s, a, true);
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zcheck_op(a->op);
	if (rc == MPI_SUCCESS && a->sendbuf == a->recvbuf && a->recvcount > 0)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS)
		rc = ztake_data(s, a->recvbuf, a->recvcount, &a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

#define PARAMS(COUNT, DISPL)                                                                                           \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Scan, Iscan, PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take, .build = build_scan, .sendbuf = sendbuf, .recvbuf = recvbuf, .recvcount = count,
		.recvtype = datatype, .op = op))
ZCOLL_FORMS(Exscan, Iexscan, PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take, .build = build_exscan, .sendbuf = sendbuf, .recvbuf = recvbuf, .recvcount = count,
		.recvtype = datatype, .op = op))
