/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans. Where the ranks of each part are consecutive: scan_strips.h. Where they are interleaved, rank 0 gathers the
 * contributions, combines them in order, and scatters the results.
 */
#include "libzip/coll/scan.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/inorder.h"
#include "libzip/coll/scan_strips.h"
#include "libzip/coll/scatter.h"
#include "libzip/schedule/step.h"

struct scan {
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	struct zinorder all; /* rank 0: the contributions, then their prefixes */
};

static int make_prefixes(struct zsched *s, void *arg)
{
	struct scan *n = arg;
	int size = zsched_comm(s)->size, rc = MPI_SUCCESS;
	for (int r = 1; r < size && rc == MPI_SUCCESS && !zsched_failed(s); r++)
		rc = zbuf_reduce(zinorder_at(&n->all, r - 1), zinorder_at(&n->all, r), n->count, n->type, n->op);
	return rc;
}

static int build_interleaved(struct zsched *s, const struct zcoll *a, bool exclusive)
{
	struct zcomm *c = zsched_comm(s);
	struct scan *n = zsched_alloc(s, sizeof *n);
	MPI_Count *counts = zsched_alloc(s, (size_t)c->size * sizeof *counts);
	MPI_Aint *displs = zsched_alloc(s, (size_t)c->size * sizeof *displs);
	if (!n || !counts || !displs)
		return MPI_ERR_NO_MEM;
	*n = (struct scan){.count = a->recvcount, .type = a->recvtype, .op = a->op};
	int rc =
		zinorder_gather(s, a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf, n->count, n->type, 0, &n->all);
	for (int r = 0; r < c->size; r++) {
		counts[r] = exclusive && r == 0 ? 0 : n->all.slot_count;
		displs[r] = (exclusive && r > 0 ? r - 1 : r) * n->all.slot_count;
	}
	if (rc == MPI_SUCCESS && n->all.buf) {
		rc = zstep_call(s, make_prefixes, n);
		zsched_round(s);
	}
	if (rc != MPI_SUCCESS)
		return rc;
	struct zcoll scatter = {.vector = true,
		.sendbuf = n->all.buf,
		.sendcounts = ZVEC(counts),
		.sdispls = ZVEC(displs),
		.sendtype = n->all.slot,
		.recvbuf = a->recvbuf,
		.recvcount = exclusive && c->rank == 0 ? 0 : n->count,
		.recvtype = n->type,
		.root = 0};
	return zscatter_build(s, &scatter);
}

int zscan_build(struct zsched *s, const struct zcoll *a)
{
	return zsched_comm(s)->blocked ? zscan_strips_build(s, a, false) : build_interleaved(s, a, false);
}

int zscan_build_exclusive(struct zsched *s, const struct zcoll *a)
{
	return zsched_comm(s)->blocked ? zscan_strips_build(s, a, true) : build_interleaved(s, a, true);
}

int zscan_run_exclusive(struct zcomm *c, const char *name, const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype type, MPI_Op op)
{
	return zcoll_run(c, &(struct zcoll){.name = name,
				    .build = zscan_build_exclusive,
				    .sendbuf = sendbuf,
				    .recvbuf = recvbuf,
				    .recvcount = count,
				    .recvtype = type,
				    .op = op});
}
