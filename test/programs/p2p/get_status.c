/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_get_status, and its forms for several requests where MPICH has them: the requests stay, and errors come.
 */
#include "../check.h"

#define FORMS (MPI_VERSION * 10 + MPI_SUBVERSION >= 41)

/* The class that the call returns for a request that ends. */
static int look(MPI_Request r, MPI_Status *status)
{
	int flag = 0, rc = MPI_SUCCESS;
	while (!flag)
		rc = MPI_Request_get_status(r, &flag, status);
	return class_of(rc);
}

/* A receive of one number for which four come, and a good one, from that rank; both sent before. */
static void failed(int from, int to)
{
	int four[4] = {1, 2, 3, 4}, got[2] = {-1, -1};
	MPI_Request sends[2], r[2];
	MPI_Status st[2];
	MPI_Irecv(&got[0], 1, MPI_INT, from, 1, WORLD, &r[0]);
	MPI_Irecv(&got[1], 1, MPI_INT, from, 2, WORLD, &r[1]);
	MPI_Isend(four, 4, MPI_INT, to, 1, WORLD, &sends[0]);
	MPI_Isend(four, 1, MPI_INT, to, 2, WORLD, &sends[1]);
	CHECK_INT(look(r[1], &st[1]), MPI_SUCCESS);
	CHECK_INT(st[1].MPI_SOURCE, from);
	CHECK_INT(st[1].MPI_TAG, 2);
	CHECK_INT(class_of(MPI_Request_get_status(r[1], NULL, &st[1])), MPI_ERR_ARG);
	for (int again = 0; again < 2; again++)
		CHECK_INT(look(r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
#if FORMS
	int flag = 0, index = -5, count = -5, indices[2];
	CHECK_INT(class_of(MPI_Request_get_status_all(2, r, &flag, st)), MPI_ERR_IN_STATUS);
	CHECK_INT(flag, 1);
	CHECK_INT(class_of(st[0].MPI_ERROR), MPI_ERR_TRUNCATE);
	CHECK_INT(st[1].MPI_ERROR, MPI_SUCCESS);
	CHECK_INT(class_of(MPI_Request_get_status_all(2, r, &flag, MPI_STATUSES_IGNORE)), MPI_ERR_IN_STATUS);
	CHECK_INT(class_of(MPI_Request_get_status_any(1, r, &index, &flag, st)), MPI_ERR_TRUNCATE);
	CHECK_INT(index, 0);
	CHECK_INT(class_of(MPI_Request_get_status_some(2, r, &count, indices, st)), MPI_ERR_IN_STATUS);
	CHECK_INT(count, 2);
	CHECK_INT(indices[0] + indices[1], 1);
	CHECK_INT(class_of(st[indices[1]].MPI_ERROR), indices[0] == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
#endif
	CHECK_INT(class_of(MPI_Wait(&r[0], MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
	CHECK_INT(MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
	CHECK_INT(got[1], 1);
	MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

#if FORMS
/* Nothing has to be waited for: null and inactive requests. */
static void inactive(int to)
{
	int value, flag = 0, index = 0, count = 0, indices[2];
	MPI_Request r[2] = {MPI_REQUEST_NULL};
	MPI_Status st[2];
	MPI_Recv_init(&value, 1, MPI_INT, to, 3, WORLD, &r[1]);
	memset(st, 0x5a, sizeof st);
	CHECK_INT(MPI_Request_get_status_all(2, r, &flag, st), MPI_SUCCESS);
	CHECK_INT(flag, 1);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(st[i].MPI_SOURCE, MPI_ANY_SOURCE);
		CHECK_INT(st[i].MPI_TAG, MPI_ANY_TAG);
	}
	flag = 0;
	memset(st, 0x5a, sizeof st);
	CHECK_INT(MPI_Request_get_status_any(2, r, &index, &flag, st), MPI_SUCCESS);
	CHECK_INT(flag, 1);
	CHECK_INT(index, MPI_UNDEFINED);
	CHECK_INT(st[0].MPI_TAG, MPI_ANY_TAG);
	CHECK_INT(MPI_Request_get_status_some(2, r, &count, indices, st), MPI_SUCCESS);
	CHECK_INT(count, MPI_UNDEFINED);
	MPI_Request_free(&r[1]);
}

/* Receives from all ranks, to which the ranks send one after the other. */
static void mixed(void)
{
	int *in = malloc((size_t)size * sizeof *in), *indices = malloc((size_t)size * sizeof *indices);
	MPI_Request *r = malloc((size_t)size * sizeof(MPI_Request));
	MPI_Status *st = malloc((size_t)size * sizeof(MPI_Status));
	int flag, index, count;
	for (int p = 0; p < size; p++)
		MPI_Irecv(&in[p], 1, MPI_INT, p, 4, WORLD, &r[p]);
	MPI_Barrier(WORLD); /* nobody has sent */
	MPI_Request_get_status_all(size, r, &flag, st);
	CHECK_INT(flag, 0);
	MPI_Request_get_status_any(size, r, &index, &flag, st);
	CHECK_INT(flag, 0);
	CHECK_INT(index, MPI_UNDEFINED);
	MPI_Request_get_status_some(size, r, &count, indices, st);
	CHECK_INT(count, 0);
	MPI_Barrier(WORLD);
	for (int p = 0; p < size; p++) {
		if (rank == p)
			for (int q = 0; q < size; q++)
				MPI_Send(&rank, 1, MPI_INT, q, 4, WORLD);
		do
			MPI_Request_get_status_any(1, &r[p], &index, &flag, st);
		while (!flag);
		CHECK_INT(index, 0);
		CHECK_INT(st[0].MPI_SOURCE, p);
		MPI_Request_get_status_some(p + 1, r, &count, indices, st);
		CHECK_INT(count, p + 1);
		for (int i = 0; i < count; i++)
			CHECK_INT(st[i].MPI_SOURCE, indices[i]);
		MPI_Request_get_status_all(p + 1, r, &flag, st);
		CHECK_INT(flag, 1);
		CHECK_INT(st[p].MPI_SOURCE, p);
		MPI_Request_get_status_any(size, r, &index, &flag, st);
		CHECK(flag && index >= 0 && index <= p, "index %d of %d", index, p);
		MPI_Barrier(WORLD);
		MPI_Request_get_status_all(size, r, &flag, st);
		CHECK_INT(flag, p == size - 1);
		MPI_Barrier(WORLD);
	}
	MPI_Waitall(size, r, st);
	for (int p = 0; p < size; p++)
		CHECK_INT(in[p], p);
	free(in), free(indices), free(r), free(st);
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int step = 0; step < size; step++) {
		failed((rank + size - step) % size, (rank + step) % size);
#if FORMS
		inactive((rank + step) % size);
#endif
	}
#if FORMS
	mixed();
#endif
	return end();
}
