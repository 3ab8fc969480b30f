/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Scan and MPI_Exscan. Where the ranks of each part are consecutive: coll_scan_lanes.h. Interleaved ranks: gathered
 * at rank 0, combined in order, scattered.
 */
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/coll/coll_forms.h"
#include "libzip/coll/across/coll_scan_lanes.h"

struct scan {
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	struct zgathered all; /* rank 0: the contributions, then their prefixes */
};

static int make_prefixes(struct zsched *s, void *arg)
{
	struct scan *n = arg;
	int size = zsched_comm(s)->size, rc = MPI_SUCCESS;
	for (int r = 1; r < size && rc == MPI_SUCCESS && !zsched_failed(s); r++)
		rc = zbuf_reduce(zgathered_at(&n->all, r - 1), zgathered_at(&n->all, r), n->count, n->type, n->op);
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
	int rc = zbuild_gather_all(s, a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf, n->count, n->type, 0,
		&n->all);
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
	return zbuild_scatter(s, &scatter);
}

static int build_scan(struct zsched *s, const struct zcoll *a)
{
	return zsched_comm(s)->blocked ? zscan_build_lanes(s, a, false) : build_interleaved(s, a, false);
}

static int build_exscan(struct zsched *s, const struct zcoll *a)
{
	return zsched_comm(s)->blocked ? zscan_build_lanes(s, a, true) : build_interleaved(s, a, true);
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zcheck_op(a->op);
	if (rc == MPI_SUCCESS && a->sendbuf == a->recvbuf && a->recvcount > 0)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE)
		rc = zcheck_data(a->sendbuf, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS)
		rc = ztake_data(s, a->recvbuf, a->recvcount, a->recvtype);
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

int zcoll_exscan(struct zcomm *c, const char *name, const void *sendbuf, void *recvbuf, MPI_Count count,
	MPI_Datatype type, MPI_Op op)
{
	return zcoll_run(c, &(struct zcoll){.name = name,
				    .take = take,
				    .build = build_exscan,
				    .sendbuf = sendbuf,
				    .recvbuf = recvbuf,
				    .recvcount = count,
				    .recvtype = type,
				    .op = op});
}
