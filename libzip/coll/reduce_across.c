/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions between the groups of an intercommunicator. Parts send their sums (groupsum.h) to the ranks that are to
 * have the whole: the root, or leaders of every part. All of these combine in the order of the parts, and get the same
 * bits. A group whose contributions cannot be combined part by part (inorder.h) has its rank 0 collect and combine
 * them; in MPI_Allreduce then both groups do.
 */
#include "libzip/coll/reduce_across.h"

#include "libzip/coll/across/across.h"
#include "libzip/coll/across/sums.h"
#include "libzip/coll/inorder.h"
#include "libzip/schedule/step.h"

static bool both_by_part(const struct zsched *s, MPI_Op op)
{
	return !zinorder_is_needed(zsched_comm(s), op) && !zinorder_is_needed(zsched_partners(s), op);
}

static struct zgroupsum sum_of(const struct zcoll *a, enum ztuning_collective which, MPI_Count count, int to)
{
	return (struct zgroupsum){.which = which, .count = count, .type = a->recvtype, .op = a->op, .to = to};
}

static int take_sum(struct zsched *s, const struct zcoll *a, const struct zgroupsum *sum)
{
	struct ztaking *in;
	if (zinorder_is_needed(zsched_partners(s), a->op))
		return zstep_recv(s, a->recvbuf, a->recvcount, a->recvtype, 0);
	int rc = ztaking_create(s, sum, a->recvbuf, NULL, &in);
	return rc == MPI_SUCCESS ? zsums_run(s, NULL, 0, &in, 1) : rc;
}

static int give_sum(struct zsched *s, const struct zcoll *a, const struct zgroupsum *sum)
{
	struct zgiving *out;
	void *mine;
	if (!zinorder_is_needed(zsched_comm(s), a->op)) {
		int rc = zgiving_create(s, sum, a->sendbuf, &out);
		return rc == MPI_SUCCESS ? zsums_run(s, &out, 1, NULL, 0) : rc;
	}
	int rc = zinorder_collect(s, a, a->recvcount, &mine);
	return rc == MPI_SUCCESS && mine ? zstep_send(s, mine, a->recvcount, a->recvtype, a->root) : rc;
}

int zreduce_across_build(struct zsched *s, const struct zcoll *a)
{
	/* At the root itself the number only says that one rank gets the result. */
	struct zgroupsum sum = sum_of(a, ZTUNING_REDUCE, a->recvcount, a->root >= 0 ? a->root : 0);
	int rc = a->root == MPI_ROOT ? take_sum(s, a, &sum) : a->root >= 0 ? give_sum(s, a, &sum) : MPI_SUCCESS;
	zsched_round(s);
	return rc;
}

/* Both directions go in the same rounds, so that neither waits for the other. */
int zreduce_across_build_all(struct zsched *s, const struct zcoll *a)
{
	struct zgroupsum sum = sum_of(a, ZTUNING_ALLREDUCE, a->recvcount, ZGROUPSUM_ALL);
	struct zgiving *out;
	struct ztaking *in;
	void *mine;
	if (!both_by_part(s, a->op)) {
		int rc = zinorder_collect(s, a, a->recvcount, &mine);
		return rc == MPI_SUCCESS
			       ? zacross_exchange(s, mine, a->recvcount, a->recvbuf, a->recvcount, a->recvtype)
			       : rc;
	}
	int rc = zgiving_create(s, &sum, a->sendbuf, &out);
	if (rc == MPI_SUCCESS)
		rc = ztaking_create(s, &sum, a->recvbuf, NULL, &in);
	return rc == MPI_SUCCESS ? zsums_run(s, &out, 1, &in, 1) : rc;
}
