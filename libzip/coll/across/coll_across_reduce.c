/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce and MPI_Allreduce between the groups of an intercommunicator: each gets what the other one has
 * contributed. Parts send their sums (coll_across_lanes.h) to whoever is to have the whole: the root; leaders of every
 * part. All who combine them do so in the order of the parts, and get the same bits. Where the ranks of a group's parts
 * are interleaved and the operation does not commute, its rank 0 collects and combines for it, in Allreduce for both
 * groups.
 */
#include "libzip/coll/across/coll_across.h"
#include "libzip/coll/across/coll_across_lanes.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/type/redop.h"

bool zacross_by_part(const struct zcomm *group, MPI_Op op)
{
	return group->blocked || zredop_commutes(op);
}

static bool both_by_part(const struct zsched *s, MPI_Op op)
{
	return zacross_by_part(zsched_comm(s), op) && zacross_by_part(zsched_peers(s), op);
}

int zacross_collect(struct zsched *s, const struct zcoll *a, MPI_Count count, void **mine)
{
	struct zgathered all;
	*mine = NULL;
	zsched_across(s, false);
	int rc = zbuild_gather_all(s, a->sendbuf, count, a->recvtype, 0, &all);
	if (rc == MPI_SUCCESS && all.buf)
		rc = zbuf_temp(s, count, a->recvtype, mine);
	if (rc == MPI_SUCCESS && all.buf)
		rc = zbuild_fold_all(s, &all, *mine, count, a->recvtype, a->op);
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
	if (!zacross_by_part(zsched_peers(s), a->op))
		return zstep_recv(s, a->recvbuf, a->recvcount, a->recvtype, 0);
	int rc = ztaking_create(s, sum, a->recvbuf, NULL, &in);
	return rc == MPI_SUCCESS ? zacross_run(s, NULL, 0, &in, 1) : rc;
}

static int give_sum(struct zsched *s, const struct zcoll *a, const struct zacross_sum *sum)
{
	struct zgiving *out;
	void *mine;
	if (zacross_by_part(zsched_comm(s), a->op)) {
		int rc = zgiving_create(s, sum, a->sendbuf, &out);
		return rc == MPI_SUCCESS ? zacross_run(s, &out, 1, NULL, 0) : rc;
	}
	int rc = zacross_collect(s, a, a->recvcount, &mine);
	return rc == MPI_SUCCESS && mine ? zstep_send(s, mine, a->recvcount, a->recvtype, a->root) : rc;
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
	struct zacross_sum sum = sum_of(a, ZTUNING_ALLREDUCE, a->recvcount, ZACROSS_ALL);
	struct zgiving *out;
	struct ztaking *in;
	void *mine;
	if (!both_by_part(s, a->op)) {
		int rc = zacross_collect(s, a, a->recvcount, &mine);
		return rc == MPI_SUCCESS
			       ? zacross_exchange(s, mine, a->recvcount, a->recvbuf, a->recvcount, a->recvtype)
			       : rc;
	}
	int rc = zgiving_create(s, &sum, a->sendbuf, &out);
	if (rc == MPI_SUCCESS)
		rc = ztaking_create(s, &sum, a->recvbuf, NULL, &in);
	return rc == MPI_SUCCESS ? zacross_run(s, &out, 1, &in, 1) : rc;
}
