/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Neighbor_allgather, allgatherv, alltoall, alltoallv and alltoallw, blocking, nonblocking and persistent. */
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/neighbor.h"
#include "libzip/world/topo.h"

/* On a side without neighbours all arguments are right. */
static int take_vector_received(struct zsched *s, struct zcoll *a, int degree)
{
	return degree > 0 ? zargs_take_vector_received(s, a, degree) : MPI_SUCCESS;
}

/* For allgather, allgatherv and alltoall. */
static int take_regular(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	/* Nothing is in place here. zcoll_take has made a count of 0 of it, which take_some would pass. */
	if (t && ((t->outdegree > 0 && a->sendbuf == MPI_IN_PLACE) || (t->indegree > 0 && a->recvbuf == MPI_IN_PLACE)))
		return MPI_ERR_BUFFER;
	int rc = !t ? MPI_ERR_TOPOLOGY : t->outdegree > 0 ? zargs_take_some_sent(s, a) : MPI_SUCCESS;
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->vector)
		return take_vector_received(s, a, t->indegree);
	return t->indegree > 0 ? zargs_take_some_received(s, a) : MPI_SUCCESS;
}

static int take_alltoallv(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc = !t ? MPI_ERR_TOPOLOGY : t->outdegree > 0 ? zargs_take_vector_sent(s, a, t->outdegree) : MPI_SUCCESS;
	return rc == MPI_SUCCESS ? take_vector_received(s, a, t->indegree) : rc;
}

static int take_alltoallw(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc = t ? zargs_take_types_sent(s, a, t->outdegree) : MPI_ERR_TOPOLOGY;
	a->sendtype = a->recvtype = MPI_BYTE; /* displacements are in bytes */
	return rc == MPI_SUCCESS ? zargs_take_types_received(s, a, t->indegree) : rc;
}

#define REGULAR_PARAMS(COUNT, DISPL)                                                                                   \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, MPI_Comm comm
#define REGULAR_ARGS (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
ZCOLL_FORMS(Neighbor_allgather, Ineighbor_allgather, REGULAR_PARAMS, REGULAR_ARGS,
	(.take = take_regular, .build = zneighbor_build_allgather, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))
ZCOLL_FORMS(Neighbor_alltoall, Ineighbor_alltoall, REGULAR_PARAMS, REGULAR_ARGS,
	(.take = take_regular, .build = zneighbor_build_alltoall, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))

#define ALLGATHERV_PARAMS(COUNT, DISPL)                                                                                \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
	(.take = take_regular, .build = zneighbor_build_allgather, .vector = true, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts),
		.rdispls = ZVEC(displs), .recvtype = recvtype))

#define ALLTOALLV_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype, void *recvbuf,    \
		const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
	(.take = take_alltoallv, .build = zneighbor_build_alltoallv, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtype = sendtype, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtype = recvtype))

/* Here displacements are MPI_Aint in both forms. */
#define ALLTOALLW_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],       \
		void *recvbuf, const COUNT recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],     \
		MPI_Comm comm
ZCOLL_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, ALLTOALLW_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
	(.take = take_alltoallw, .build = zneighbor_build_alltoallw, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtypes = sendtypes, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtypes = recvtypes))
