/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast, blocking, nonblocking and persistent. */
#include "libzip/coll/bcast.h"
#include "libzip/coll/call/args.h"
#include "libzip/coll/call/forms.h"

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zargs_check_root(s, a->root);
	return rc == MPI_SUCCESS ? zargs_take_some_received(s, a) : rc;
}

static int take_across(struct zsched *s, struct zcoll *a)
{
	return zargs_take_rooted(s, a, zargs_take_some_received, zargs_take_some_received);
}

static const struct zcoll_across across = {take_across, zbcast_build_across};

#define PARAMS(COUNT, DISPL) void *buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm
ZCOLL_FORMS(Bcast, Ibcast, PARAMS, (buffer, count, datatype, root, comm),
	(.take = take, .build = zbcast_build, .across = &across, .recvbuf = buffer, .recvcount = count,
		.recvtype = datatype, .root = root))
