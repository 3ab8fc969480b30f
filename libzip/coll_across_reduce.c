/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce, MPI_Allreduce and MPI_Reduce_scatter between the groups of an intercommunicator: each gets what the other
 * one has contributed. Parts send their sums (coll_across_lanes.h) to whoever is to have the whole: the root; leaders
 * of every part; rank 0, which scatters. All who combine them do so in the order of the parts, and get the same bits.
 * Where the ranks of a group's parts are interleaved and the operation does not commute, its rank 0 collects and
 * combines for it, for both groups if data go both ways.
 */
#include "coll_across.h"
#include "coll_across_lanes.h"
#include "coll_data.h"
#include "coll_fold.h"

/* Does a group's sum come part by part? Both groups answer alike. */
static bool by_part(const struct zcomm *group, MPI_Op op)
{
	return group->blocked || zbuf_op_commutes(op);
}

static bool both_by_part(const struct zsched *s, MPI_Op op)
{
	return by_part(zsched_comm(s), op) && by_part(zsched_peers(s), op);
}

/* Otherwise: my group's contribution at its rank 0, *mine; NULL elsewhere. */
static int collect(struct zsched *s, const struct zcoll *a, MPI_Count count, void **mine)
{
	void *all;
	*mine = NULL;
	zsched_across(s, false);
	int rc = zbuild_gather_all(s, a->sendbuf, count, a->recvtype, 0, &all);
	if (rc == MPI_SUCCESS && all)
		rc = zbuf_temp(s, count, a->recvtype, mine);
	if (rc == MPI_SUCCESS && all)
		rc = zbuild_fold_all(s, all, *mine, count, a->recvtype, a->op);
	zsched_round(s);
	zsched_across(s, true);
	return rc;
}

static struct zacross_sum sum_of(const struct zcoll *a, enum ztuning_collective which, MPI_Count count, int to)
{
	return (struct zacross_sum){.which = which, .count = count, .type = a->recvtype, .op = a->op, .to = to};
}

static int take_sum(struct zsched *s, const struct zcoll *a, const struct zacross_sum *sum)
{
	struct ztaking *in;
	if (!by_part(zsched_peers(s), a->op))
		return zsched_recv(s, a->recvbuf, a->recvcount, a->recvtype, 0);
	int rc = ztaking_create(s, sum, a->recvbuf, &in);
	return rc == MPI_SUCCESS ? zacross_run(s, NULL, in) : rc;
}

static int give_sum(struct zsched *s, const struct zcoll *a, const struct zacross_sum *sum)
{
	struct zgiving *out;
	void *mine;
	if (by_part(zsched_comm(s), a->op)) {
		int rc = zgiving_create(s, sum, a->sendbuf, &out);
		return rc == MPI_SUCCESS ? zacross_run(s, out, NULL) : rc;
	}
	int rc = collect(s, a, a->recvcount, &mine);
	return rc == MPI_SUCCESS && mine ? zsched_send(s, mine, a->recvcount, a->recvtype, a->root) : rc;
}

int zacross_reduce(struct zsched *s, const struct zcoll *a)
{
	/* At the root itself the number only says that it gets all alone. */
	struct zacross_sum sum = sum_of(a, ZTUNING_REDUCE, a->recvcount, a->root >= 0 ? a->root : 0);
	int rc = a->root == MPI_ROOT ? take_sum(s, a, &sum) : a->root >= 0 ? give_sum(s, a, &sum) : MPI_SUCCESS;
	zsched_round(s);
	return rc;
}

/* Receivers and senders do both in one round: neither waits for the other. */
int zacross_allreduce(struct zsched *s, const struct zcoll *a)
{
	struct zacross_sum sum = sum_of(a, ZTUNING_ALLREDUCE, a->recvcount, -1);
	struct zgiving *out;
	struct ztaking *in;
	void *mine;
	if (!both_by_part(s, a->op)) {
		int rc = collect(s, a, a->recvcount, &mine);
		return rc == MPI_SUCCESS
			       ? zacross_exchange(s, mine, a->recvcount, a->recvbuf, a->recvcount, a->recvtype)
			       : rc;
	}
	int rc = zgiving_create(s, &sum, a->sendbuf, &out);
	if (rc == MPI_SUCCESS)
		rc = ztaking_create(s, &sum, a->recvbuf, &in);
	return rc == MPI_SUCCESS ? zacross_run(s, out, in) : rc;
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

/* To rank 0 of either group. */
static int sum_at_first(struct zsched *s, const struct zcoll *a, MPI_Count total, void *result)
{
	struct zacross_sum sum = sum_of(a, ZTUNING_REDUCE_SCATTER, total, 0);
	bool first = zsched_comm(s)->rank == 0;
	struct zgiving *out;
	struct ztaking *in = NULL;
	void *mine;
	if (both_by_part(s, a->op)) {
		int rc = zgiving_create(s, &sum, a->sendbuf, &out);
		if (rc == MPI_SUCCESS && first)
			rc = ztaking_create(s, &sum, result, &in);
		return rc == MPI_SUCCESS ? zacross_run(s, out, in) : rc;
	}
	int rc = collect(s, a, total, &mine);
	if (rc == MPI_SUCCESS && first)
		rc = zsched_recv(s, result, total, a->recvtype, 0);
	if (rc == MPI_SUCCESS && first)
		rc = zsched_send(s, mine, total, a->recvtype, 0);
	zsched_round(s);
	return rc;
}

int zacross_reduce_scatter(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count total = a->vector ? 0 : a->recvcount * c->size;
	void *sum = NULL;
	int rc = MPI_SUCCESS;
	for (int r = 0; r < c->size && a->vector; r++)
		total += zvec_get(a->recvcounts, r);
	if (c->rank == 0)
		rc = zbuf_temp(s, total, a->recvtype, &sum);
	if (rc == MPI_SUCCESS)
		rc = sum_at_first(s, a, total, sum);
	return rc == MPI_SUCCESS ? scatter(s, a, sum) : rc;
}
