/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Neighbor_allgather, allgatherv, alltoall, alltoallv and alltoallw, blocking, nonblocking and persistent. */
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/neighbor.h"
#include "libzip/world/topo.h"

/* On a side without neighbours all arguments are right. */
static int take_block(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int degree)
{
	return degree > 0 ? zargs_take_data(s, buf, count, type) : MPI_SUCCESS;
}

static int take_vector(struct zsched *s, const void *buf, struct zvec counts, struct zvec displs, MPI_Datatype type,
	int degree)
{
	if (degree == 0)
		return MPI_SUCCESS;
	if (!counts.p || !displs.p)
		return MPI_ERR_ARG;
	return buf == MPI_IN_PLACE ? MPI_ERR_BUFFER : zargs_take_blocks(s, buf, counts, type, degree);
}

static int take_types(struct zsched *s, const void *buf, struct zvec counts, struct zvec displs,
	const MPI_Datatype **types, int degree)
{
	return degree > 0 && buf == MPI_IN_PLACE ? MPI_ERR_BUFFER
						 : zargs_take_types(s, buf, counts, displs, types, degree);
}

/* For allgather, allgatherv and alltoall. */
static int take_regular(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc = t ? take_block(s, a->sendbuf, a->sendcount, a->sendtype, t->outdegree) : MPI_ERR_TOPOLOGY;
	if (rc != MPI_SUCCESS)
		return rc;
	return a->vector ? take_vector(s, a->recvbuf, a->recvcounts, a->rdispls, a->recvtype, t->indegree)
			 : take_block(s, a->recvbuf, a->recvcount, a->recvtype, t->indegree);
}

static int take_alltoallv(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc =
		t ? take_vector(s, a->sendbuf, a->sendcounts, a->sdispls, a->sendtype, t->outdegree) : MPI_ERR_TOPOLOGY;
	return rc == MPI_SUCCESS ? take_vector(s, a->recvbuf, a->recvcounts, a->rdispls, a->recvtype, t->indegree) : rc;
}

static int take_alltoallw(struct zsched *s, struct zcoll *a)
{
	const struct ztopo *t = zsched_comm(s)->topo;
	int rc = t ? take_types(s, a->sendbuf, a->sendcounts, a->sdispls, &a->sendtypes, t->outdegree)
		   : MPI_ERR_TOPOLOGY;
	a->sendtype = a->recvtype = MPI_BYTE; /* displacements are in bytes */
	return rc == MPI_SUCCESS ? take_types(s, a->recvbuf, a->recvcounts, a->rdispls, &a->recvtypes, t->indegree)
				 : rc;
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
