/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce, MPI_Allreduce and MPI_Reduce_scatter between the groups of an intercommunicator: each gets what the other
 * one has contributed. Native reduction in every part of a group; its leaders send the parts' results to whoever is to
 * have the sum (the root; the leader of every part; rank 0, which scatters), and these combine them in the order of the
 * parts, so that all get the same bits. Where the ranks of a group's parts are interleaved and the operation does not
 * commute, its rank 0 collects and combines for it.
 */
#include "coll_across.h"
#include "coll_data.h"
#include "coll_fold.h"
#include "coll_native.h"

/* Does a group's sum come part by part? Both groups answer alike. */
static bool by_part(const struct zcomm *group, MPI_Op op)
{
	return group->blocked || zbuf_op_commutes(op);
}

/* My group's contribution: *mine is what I send, NULL in those that send nothing. Ends the round. */
static int build_contribution(struct zsched *s, const struct zcoll *a, MPI_Count count, void **mine)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	*mine = NULL;
	zsched_across(s, false);
	if (by_part(c, a->op)) {
		if (zcoll_is_leader(c))
			rc = zbuf_temp(s, count, a->recvtype, mine);
		/* Also where I am alone: it finds out whether operation and datatype go together. */
		if (rc == MPI_SUCCESS)
			rc = znative_reduce(s, a->sendbuf, *mine, count, a->recvtype, a->op, 0);
	} else {
		void *all;
		rc = zbuild_gather_all(s, a->sendbuf, count, a->recvtype, 0, &all);
		if (rc == MPI_SUCCESS && all)
			rc = zbuf_temp(s, count, a->recvtype, mine);
		if (rc == MPI_SUCCESS && all)
			rc = zbuild_fold_all(s, all, *mine, count, a->recvtype, a->op);
	}
	zsched_round(s);
	zsched_across(s, true);
	return rc;
}

/* In the current round: what the other group contributes comes. */
static int recv_contribution(struct zsched *s, const struct zcoll *a, MPI_Count count, void *result,
	struct zfold **fold)
{
	struct zcomm *from = zsched_peers(s);
	struct zfold *f = zsched_alloc(s, sizeof *f);
	int n = by_part(from, a->op) ? from->nparts : 1, rc = MPI_SUCCESS;
	if (!f)
		return MPI_ERR_NO_MEM;
	*f = (struct zfold){.count = count, .type = a->recvtype, .op = a->op, .n = n, .result = result};
	f->inputs = zsched_alloc(s, (size_t)n * sizeof *f->inputs);
	if (!f->inputs)
		return MPI_ERR_NO_MEM;
	f->inputs[0] = result;
	for (int p = 0; p < n && rc == MPI_SUCCESS; p++) {
		if (p > 0)
			rc = zbuf_temp(s, count, a->recvtype, &f->inputs[p]);
		if (rc == MPI_SUCCESS)
			rc = zsched_recv(s, f->inputs[p], count, a->recvtype, from->parts[p].leader);
	}
	*fold = f;
	return rc;
}

int zacross_reduce(struct zsched *s, const struct zcoll *a)
{
	struct zfold *fold;
	void *mine;
	int rc = MPI_SUCCESS;
	if (a->root == MPI_ROOT) {
		rc = recv_contribution(s, a, a->recvcount, a->recvbuf, &fold);
		zsched_round(s);
		rc = rc == MPI_SUCCESS ? zsched_call(s, zfold_call, fold) : rc;
	} else if (a->root >= 0) {
		rc = build_contribution(s, a, a->recvcount, &mine);
		rc = rc == MPI_SUCCESS && mine ? zsched_send(s, mine, a->recvcount, a->recvtype, a->root) : rc;
	}
	zsched_round(s);
	return rc;
}

/* Receivers and senders do both in one round: neither waits for the other. */
int zacross_allreduce(struct zsched *s, const struct zcoll *a)
{
	bool leader = zcoll_is_leader(zsched_comm(s));
	struct zfold *fold;
	void *mine;
	int rc = build_contribution(s, a, a->recvcount, &mine);
	if (rc == MPI_SUCCESS && leader)
		rc = recv_contribution(s, a, a->recvcount, a->recvbuf, &fold);
	if (rc == MPI_SUCCESS && mine)
		rc = zacross_send(s, mine, a->recvcount, a->recvtype);
	zsched_round(s);
	if (rc == MPI_SUCCESS && leader)
		rc = zsched_call(s, zfold_call, fold);
	return rc == MPI_SUCCESS ? zacross_hand_on(s, a->recvbuf, a->recvcount, a->recvtype) : rc;
}

/* The slots of my group, as rank 0 scatters them. */
static int scatter(struct zsched *s, const struct zcoll *a, void *sum)
{
	struct zcomm *c = zsched_comm(s);
	struct zcoll scatter = {.sendbuf = sum,
		.sendcount = a->recvcount,
		.sendtype = a->recvtype,
		.recvbuf = a->recvbuf,
		.recvcount = a->recvcount,
		.recvtype = a->recvtype,
		.root = 0};
	if (a->vector) {
		MPI_Aint *displs = zsched_alloc(s, (size_t)c->size * sizeof *displs), at = 0;
		if (!displs)
			return MPI_ERR_NO_MEM;
		for (int r = 0; r < c->size; r++) {
			displs[r] = at;
			at += (MPI_Aint)zvec_get(a->recvcounts, r);
		}
		scatter.vector = true;
		scatter.sendcounts = a->recvcounts;
		scatter.sdispls = ZVEC(displs);
		scatter.recvcount = zvec_get(a->recvcounts, c->rank);
	}
	zsched_across(s, false);
	return zbuild_scatter(s, &scatter);
}

int zacross_reduce_scatter(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count total = a->vector ? 0 : a->recvcount * c->size;
	struct zfold *fold = NULL;
	void *mine, *sum = NULL;
	for (int r = 0; r < c->size && a->vector; r++)
		total += zvec_get(a->recvcounts, r);
	int rc = build_contribution(s, a, total, &mine);
	if (rc == MPI_SUCCESS && c->rank == 0)
		rc = zbuf_temp(s, total, a->recvtype, &sum);
	if (rc == MPI_SUCCESS && c->rank == 0)
		rc = recv_contribution(s, a, total, sum, &fold);
	if (rc == MPI_SUCCESS && mine)
		rc = zsched_send(s, mine, total, a->recvtype, 0);
	zsched_round(s);
	if (rc == MPI_SUCCESS && fold)
		rc = zsched_call(s, zfold_call, fold);
	zsched_round(s);
	return rc == MPI_SUCCESS ? scatter(s, a, sum) : rc;
}
