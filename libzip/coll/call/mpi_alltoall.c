/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall, Alltoallv and Alltoallw, blocking, nonblocking and persistent. */
#include "libzip/coll/alltoall.h"
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/packed.h"

/* Two buffers with the same layout may not be one. MPICH looks no further than this. The arrays are the caller's. */
static int check_alias(const struct zsched *s, struct zcoll *a)
{
	const bool same = a->sendtypes ? a->sendtypes == a->recvtypes && a->sendcounts.p == a->recvcounts.p
			  : a->sendtype != a->recvtype ? false
			  : a->vector		       ? a->sendcounts.p == a->recvcounts.p
						       : a->sendcount == a->recvcount && a->sendcount != 0;
	return same && !zsched_inter(s) && a->sendbuf != MPI_IN_PLACE ? zargs_check_alias(a, a->sendbuf, a->recvbuf)
								      : MPI_SUCCESS;
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = check_alias(s, a);
	if (rc == MPI_SUCCESS)
		rc = zargs_take_slots_received(s, a);
	return rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE ? zargs_take_slots_sent(s, a) : rc;
}

static int take_w(struct zsched *s, struct zcoll *a)
{
	int n = zsched_partners(s)->size, rc = check_alias(s, a);
	a->sendtype = a->recvtype = MPI_BYTE; /* displacements are in bytes */
	if (rc == MPI_SUCCESS)
		rc = zargs_take_types_received(s, a, n);
	return rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE ? zargs_take_types_sent(s, a, n) : rc;
}

static int take_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_both(s, a, take);
}

static int take_w_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_both(s, a, take_w);
}

static const struct zcoll_across across = {take_across, zalltoall_build_across};
static const struct zcoll_across across_w = {take_w_across, zalltoall_build_across};

#define ALLTOALL_PARAMS(COUNT, DISPL)                                                                                  \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Alltoall, Ialltoall, ALLTOALL_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
	(.take = take, .build = zalltoall_build, .across = &across, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))

#define ALLTOALLV_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype, void *recvbuf,    \
		const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Alltoallv, Ialltoallv, ALLTOALLV_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
	(.take = take, .build = zalltoall_build, .across = &across, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtype = sendtype, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtype = recvtype))

#define ALLTOALLW_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], const MPI_Datatype sendtypes[],          \
		void *recvbuf, const COUNT recvcounts[], const DISPL rdispls[], const MPI_Datatype recvtypes[],        \
		MPI_Comm comm
ZCOLL_FORMS(Alltoallw, Ialltoallw, ALLTOALLW_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
	(.take = take_w, .build = zalltoall_build, .across = &across_w, .local = zpacked_run, .vector = true,
		.sendbuf = sendbuf, .sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtypes = sendtypes,
		.recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtypes = recvtypes))
