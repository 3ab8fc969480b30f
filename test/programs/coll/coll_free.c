/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Request_free and collectives: a nonblocking one must be waited for (MPI-4.0 section 6.12), so the call refuses it
 * and changes nothing; a persistent one that is under way goes on to its end. (MPICH alone takes its memory away.)
 * twin: native=no layouts=2+2,1+3,1+1+2
 */
#include "../check.h"

#define LONG 100000
#define REQUESTS 12

static int in[REQUESTS][LONG], out[REQUESTS][LONG];

static void refused(const char *what, MPI_Comm on, MPI_Request *q)
{
	MPI_Request before = *q;
	int class = -1;
	MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
	MPI_Error_class(MPI_Request_free(q), &class);
	CHECK(class == MPI_ERR_REQUEST, "%s: class %d", what, class);
	CHECK(*q == before, "%s: the handle is gone", what);
	MPI_Comm_set_errhandler(on, MPI_ERRORS_ARE_FATAL);
	MPI_Wait(q, MPI_STATUS_IGNORE);
	CHECK(*q == MPI_REQUEST_NULL, "%s: the handle is there", what);
}

static void nonblocking(MPI_Comm inter)
{
	MPI_Request q;
	MPI_Comm twin;
	for (int i = 0; i < LONG; i++)
		in[0][i] = rank + i;
	MPI_Iallreduce(in[0], out[0], LONG, MPI_INT, MPI_SUM, WORLD, &q);
	refused("iallreduce", WORLD, &q);
	for (int i = 0; i < LONG; i += 777)
		CHECK_INT(out[0][i], size * i + size * (size - 1) / 2);
	MPI_Ibarrier(WORLD, &q);
	refused("ibarrier", WORLD, &q);
	MPI_Comm_idup(WORLD, &twin, &q);
	refused("idup", WORLD, &q);
	MPI_Barrier(twin);
	MPI_Comm_free(&twin);
	MPI_Ibarrier(inter, &q);
	refused("ibarrier between groups", inter, &q);
	/* and one that is complete already */
	MPI_Ibarrier(WORLD, &q);
	for (int flag = 0; !flag;)
		MPI_Request_get_status(q, &flag, MPI_STATUS_IGNORE);
	refused("ibarrier, complete", WORLD, &q);
}

/* No rank is told when they are complete. */
static void persistent(MPI_Comm on, int members, int first, int lengths)
{
	MPI_Request q[REQUESTS];
	for (int i = 0; i < REQUESTS; i++) {
		int n = i % 2 ? lengths : 1;
		for (int k = 0; k < n; k++)
			in[i][k] = rank + i;
		*(volatile int *)&out[i][n - 1] = -1;
		MPI_Allreduce_init(in[i], out[i], n, MPI_INT, MPI_SUM, on, MPI_INFO_NULL, &q[i]);
	}
	for (int i = 0; i < REQUESTS; i++) {
		MPI_Start(&q[i]);
		if (i % 3 == 0) { /* started a second time */
			MPI_Wait(&q[i], MPI_STATUS_IGNORE);
			*(volatile int *)&out[i][(i % 2 ? lengths : 1) - 1] = -1;
			MPI_Start(&q[i]);
		}
		MPI_Request_free(&q[i]);
		CHECK(q[i] == MPI_REQUEST_NULL, "the handle is there");
	}
	for (int i = 0; i < REQUESTS; i++) {
		int n = i % 2 ? lengths : 1, flag, want = members * i + (2 * first + members - 1) * members / 2;
		volatile int *last = &out[i][n - 1];
		while (*last != want)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(on);
}

int main(int argc, char **argv)
{
	MPI_Comm half, inter;
	begin(&argc, &argv);
	int side = rank >= size / 2;
	MPI_Comm_split(WORLD, side, rank, &half);
	MPI_Intercomm_create(half, 0, WORLD, side ? 0 : size / 2, 1, &inter);
	nonblocking(inter);
	persistent(WORLD, size, 0, LONG);
	persistent(inter, side ? size / 2 : size - size / 2, side ? 0 : size / 2, 1000);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	return end();
}
