/* SPDX-License-Identifier: BSD-3-Clause */
/* How the members of a parent agree on a new communicator. */
#include "libzip/comm/comm_agree.h"

#include <stdlib.h>

#include "libzip/coll/allgather.h"
#include "libzip/world/error.h"

int zcomm_agree_hear(struct zcomm *c, const char *name, const struct zcoll_across *across, int n,
	const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT])
{
	*all = malloc((size_t)n * sizeof **all);
	if (!*all)
		return zerror_raise(c, MPI_ERR_NO_MEM, name, "out of memory");
	int rc = zcoll_run(c, &(struct zcoll){.name = name,
				      .build = zallgather_build,
				      .across = across,
				      .sendbuf = mine,
				      .sendcount = ZSAID_COUNT,
				      .sendtype = MPI_INT64_T,
				      .recvbuf = *all,
				      .recvcount = ZSAID_COUNT,
				      .recvtype = MPI_INT64_T});
	if (rc != MPI_SUCCESS)
		free(*all);
	return rc;
}

struct member {
	int64_t key;
	int rank; /* in the parent */
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

int zcomm_agree_select(const int64_t (*said)[ZSAID_COUNT], const int *of, int n, int64_t color, int *vrank, int64_t *id)
{
	struct member *members = malloc(((size_t)n + 1) * sizeof *members);
	int count = 0;
	if (!members)
		return -1;
	for (int r = 0; r < n; r++) {
		if (said[r][ZSAID_COLOR] == color)
			members[count++] = (struct member){.key = said[r][ZSAID_KEY], .rank = r};
	}
	qsort(members, (size_t)count, sizeof *members, compare_members);
	for (int i = 0; i < count; i++)
		vrank[i] = of[members[i].rank];
	if (count > 0)
		*id = said[members[0].rank][ZSAID_ID];
	free(members);
	return count;
}
