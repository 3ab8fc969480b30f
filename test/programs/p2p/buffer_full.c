/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends use as much of the attached buffer as there is, and are an error then, also to other clusters. */
#include "../check.h"

#define BYTES (1 << 20)
#define FIT 3

static char *data;

static void go(int from, int to) /* by which the other one begins to receive */
{
	if (rank == from)
		MPI_Send(NULL, 0, MPI_BYTE, to, 1, WORLD);
	else
		MPI_Recv(NULL, 0, MPI_BYTE, from, 1, WORLD, MPI_STATUS_IGNORE);
}

static void take(int from, int n)
{
	for (int i = 0; i < n; i++) {
		memset(data, 0, BYTES);
		MPI_Recv(data, BYTES, MPI_BYTE, from, 0, WORLD, MPI_STATUS_IGNORE);
		CHECK(filled(data, BYTES, (uint32_t)i), "contents of %d", i);
	}
}

static void attach(int n)
{
	int bytes = n * (BYTES + MPI_BSEND_OVERHEAD);
	MPI_Buffer_attach(malloc((size_t)bytes), bytes);
}

static void detach(void)
{
	void *buffer;
	int bytes;
	MPI_Buffer_detach(&buffer, &bytes);
	free(buffer);
}

/* How many find room. The receiver has not begun, so it does not become free. */
static int send_all(int to, int persistent)
{
	int n = 0, rc = MPI_SUCCESS;
	MPI_Request r;
	for (int i = 0; i < FIT + 2; i++) {
		fill(data, BYTES, (uint32_t)i);
		if (persistent) {
			MPI_Bsend_init(data, BYTES, MPI_BYTE, to, 0, WORLD, &r);
			rc = MPI_Start(&r);
			if (rc == MPI_SUCCESS)
				MPI_Wait(&r, MPI_STATUS_IGNORE);
			MPI_Request_free(&r);
		} else {
			rc = MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, WORLD);
		}
		n += rc == MPI_SUCCESS;
		CHECK_INT(class_of(rc), i < FIT ? MPI_SUCCESS : MPI_ERR_BUFFER);
	}
	return n;
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	data = malloc(BYTES);
	for (int from = 0; from < 2; from++) {
		int to = size - 1 - from;
		if (from == to || (rank != from && rank != to))
			continue;
		for (int persistent = 0; persistent < 2 - from; persistent++) {
			if (rank == to) {
				go(from, to);
				take(from, FIT);
				continue;
			}
			CHECK_INT(class_of(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, WORLD)), MPI_ERR_BUFFER);
			attach(FIT);
			int n = send_all(to, persistent);
			printf("rank %d: %d fit in for rank %d\n", rank, n, to);
			go(from, to);
			detach();
		}
		/* what was received makes room */
		if (rank == from)
			attach(1);
		for (int i = 0; i < 10; i++) {
			if (rank == from) {
				fill(data, BYTES, 0);
				CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, WORLD), MPI_SUCCESS);
			} else {
				take(from, 1);
			}
			go(to, from);
		}
		if (rank == from)
			detach();
	}
	return end();
}
