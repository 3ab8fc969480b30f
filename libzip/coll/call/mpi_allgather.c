/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather and MPI_Allgatherv, blocking, nonblocking and persistent. */
#include "libzip/coll/allgather.h"
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zargs_take_slots_received(s, a);
	if (rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE)
		rc = zargs_take_sent(s, a);
	return rc == MPI_SUCCESS ? zargs_check_gathered(s, a) : rc;
}

static int take_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_both(s, a, take);
}

static const struct zcoll_across across = {take_across, zallgather_build_across};

#define ALLGATHER_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Allgather, Iallgather, ALLGATHER_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
	(.take = take, .build = zallgather_build, .across = &across, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))

#define ALLGATHERV_PARAMS(COUNT, DISPL)                                                                                \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Allgatherv, Iallgatherv, ALLGATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
	(.take = take, .build = zallgather_build, .across = &across, .vector = true, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts),
		.rdispls = ZVEC(displs), .recvtype = recvtype))
