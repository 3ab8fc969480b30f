/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Gather, Gatherv, Scatter and Scatterv, blocking, nonblocking and persistent. */
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/gather.h"
#include "libzip/coll/scatter.h"

/* Am I the root of a call on an intracommunicator? *rc: MPI_SUCCESS, or the root is wrong. */
static bool is_root(const struct zsched *s, const struct zcoll *a, int *rc)
{
	*rc = zargs_check_root(s, a->root);
	return *rc == MPI_SUCCESS && zsched_comm(s)->rank == a->root;
}

static int take_gather(struct zsched *s, struct zcoll *a)
{
	int rc;
	bool root = is_root(s, a, &rc);
	if (root)
		rc = zargs_take_slots_received(s, a);
	if (rc == MPI_SUCCESS && !(root && a->sendbuf == MPI_IN_PLACE))
		rc = zargs_take_sent(s, a);
	return root && rc == MPI_SUCCESS ? zargs_check_gathered(s, a) : rc;
}

static int take_scatter(struct zsched *s, struct zcoll *a)
{
	int rc;
	bool root = is_root(s, a, &rc);
	if (root)
		rc = zargs_take_slots_sent(s, a);
	if (root && a->recvbuf == MPI_IN_PLACE) { /* its count and type mean nothing */
		a->recvcount = 0;
		a->recvtype = MPI_BYTE;
		return rc;
	}
	if (rc == MPI_SUCCESS)
		rc = zargs_take_received(s, a);
	return root && rc == MPI_SUCCESS ? zargs_check_scattered(s, a) : rc;
}

static int take_gather_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_rooted(s, a, zargs_take_slots_received, zargs_take_sent);
}

static int take_scatter_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_rooted(s, a, zargs_take_slots_sent, zargs_take_received);
}

static const struct zcoll_across gather_across = {take_gather_across, zgather_build_across};
static const struct zcoll_across scatter_across = {take_scatter_across, zscatter_build_across};

#define GATHER_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Gather, Igather, GATHER_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
	(.take = take_gather, .build = zgather_build, .across = &gather_across, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount,
		.recvtype = recvtype, .root = root))

#define GATHERV_PARAMS(COUNT, DISPL)                                                                                   \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Gatherv, Igatherv, GATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
	(.take = take_gather, .build = zgather_build, .across = &gather_across, .vector = true, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts),
		.rdispls = ZVEC(displs), .recvtype = recvtype, .root = root))

#define SCATTER_PARAMS(COUNT, DISPL)                                                                                   \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Scatter, Iscatter, SCATTER_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
	(.take = take_scatter, .build = zscatter_build, .across = &scatter_across, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount,
		.recvtype = recvtype, .root = root))

#define SCATTERV_PARAMS(COUNT, DISPL)                                                                                  \
	const void *sendbuf, const COUNT sendcounts[], const DISPL displs[], MPI_Datatype sendtype, void *recvbuf,     \
		COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Scatterv, Iscatterv, SCATTERV_PARAMS,
	(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
	(.take = take_scatter, .build = zscatter_build, .across = &scatter_across, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(displs), .sendtype = sendtype, .recvbuf = recvbuf,
		.recvcount = recvcount, .recvtype = recvtype, .root = root))
