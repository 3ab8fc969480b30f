/* SPDX-License-Identifier: BSD-3-Clause */
/* Two halves and a merge. See comm_unnumber.h. */
#include "libzip/comm/internal/comm_unnumber.h"

#include <stdbool.h>

#include "libzip/shim/shim.h"

struct merge {
	MPI_Comm comm; /* to be exchanged */
	int rc;	       /* what has failed at this member */
};

/* Notes the result of a step, and agrees with the others whether all have succeeded. */
static bool all_have(struct merge *m, int rc)
{
	int failed = rc != MPI_SUCCESS, any = 1;
	if (m->rc == MPI_SUCCESS)
		m->rc = rc;
	rc = zn.Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, m->comm);
	if (m->rc == MPI_SUCCESS)
		m->rc = rc;
	return rc == MPI_SUCCESS && !any;
}

/* A native constructor that has failed leaves nothing, whatever it has written. */
static bool made(struct merge *m, int rc, MPI_Comm *comm)
{
	if (rc != MPI_SUCCESS)
		*comm = MPI_COMM_NULL;
	return all_have(m, rc);
}

static void end(MPI_Comm *comm)
{
	if (*comm != MPI_COMM_NULL)
		zn.Comm_free(comm);
}

/* Have all members two more communicators left? Where there is no room for one half, MPI_Intercomm_create fails in that
 * half, and waits for it in the other one. Another thread may still take them before they are used. */
static bool have_room(struct merge *m)
{
	MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
	const bool have =
		made(m, zn.Comm_dup(m->comm, &first), &first) && made(m, zn.Comm_dup(m->comm, &second), &second);
	end(&first);
	end(&second);
	return have;
}

/* The first member is one half, all others are the other. */
static void merge_halves(struct merge *m, int rank, MPI_Comm *merged)
{
	MPI_Comm half = MPI_COMM_NULL, halves = MPI_COMM_NULL;
	const int other = rank > 0 ? 0 : 1;
	if (made(m, zn.Comm_split(m->comm, rank > 0, rank, &half), &half) && have_room(m) &&
		made(m, zn.Intercomm_create(half, 0, m->comm, other, 0, &halves), &halves)) {
		zn.Comm_set_errhandler(halves, MPI_ERRORS_RETURN);
		if (!made(m, zn.Intercomm_merge(halves, rank > 0, merged), merged))
			end(merged);
	}
	end(&halves);
	end(&half);
}

int zcomm_unnumber(MPI_Comm *comm)
{
	struct merge m = {.comm = *comm, .rc = MPI_SUCCESS};
	MPI_Comm merged = MPI_COMM_NULL;
	int rank, size = 0;
	zn.Comm_size(*comm, &size);
	zn.Comm_rank(*comm, &rank);
	if (size < 2)
		return MPI_SUCCESS;
	merge_halves(&m, rank, &merged);
	if (merged != MPI_COMM_NULL)
		zn.Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
	zn.Comm_free(comm);
	*comm = merged;
	return m.rc;
}
