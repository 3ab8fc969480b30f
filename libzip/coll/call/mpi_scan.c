/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan and MPI_Exscan, blocking, nonblocking and persistent. */
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"
#include "libzip/coll/scan.h"

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zargs_check_op(a);
	if (rc == MPI_SUCCESS)
		rc = zargs_check_data(a, a->recvbuf, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS && a->recvcount > 0)
		rc = zargs_check_alias(a, a->sendbuf, a->recvbuf);
	if (rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE)
		rc = zargs_check_data(a, a->sendbuf, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zargs_keep_reduction(s, a) : rc;
}

#define PARAMS(COUNT, DISPL)                                                                                           \
	const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Scan, Iscan, PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take, .build = zscan_build, .sendbuf = sendbuf, .recvbuf = recvbuf, .recvcount = count,
		.recvtype = datatype, .op = op))
ZCOLL_FORMS(Exscan, Iexscan, PARAMS, (sendbuf, recvbuf, count, datatype, op, comm),
	(.take = take, .build = zscan_build_exclusive, .sendbuf = sendbuf, .recvbuf = recvbuf, .recvcount = count,
		.recvtype = datatype, .op = op))
