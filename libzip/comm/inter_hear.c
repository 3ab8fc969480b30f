/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of both groups tell each other three numbers. */
#include "libzip/comm/inter_hear.h"

#include "libzip/coll/across/across.h"
#include "libzip/coll/allgather.h"

/* recvbuf gets the numbers of all members, those of the local group before those of the remote group. */
static int build_said(struct zsched *s, const struct zcoll *a)
{
	int64_t(*all)[ZSAID_COUNT] = a->recvbuf;
	int n = zsched_comm(s)->size, m = zsched_inter(s)->size;
	zsched_across(s, false);
	int rc = zallgather_build(s, a);
	zsched_across(s, true);
	if (rc == MPI_SUCCESS)
		rc = zacross_exchange(s, all, (MPI_Count)n * ZSAID_COUNT, all + n, (MPI_Count)m * ZSAID_COUNT,
			MPI_INT64_T);
	return rc;
}

static const struct zcoll_across said_across = {NULL, build_said};

int zinter_hear(struct zcomm *c, const char *name, const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT])
{
	return zcomm_agree_hear(c, name, &said_across, c->local->size + c->size, mine, all);
}
