/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the process and of communicators: flushing waits until all messages are received, also in other clusters.
 * The functions are those of MPI-4.1; with an older MPICH the program does nothing. */
#include "../check.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
#define BYTES (1 << 20)

static char *data;

static void attach(MPI_Comm comm, void *buffer, int bytes)
{
	if (comm == MPI_COMM_NULL)
		CHECK_INT(MPI_Buffer_attach(buffer, bytes), MPI_SUCCESS);
	else
		CHECK_INT(MPI_Comm_attach_buffer(comm, buffer, bytes), MPI_SUCCESS);
}

static void detach(MPI_Comm comm, const void *buffer, int bytes)
{
	void *was = NULL;
	int n = -1;
	if (comm == MPI_COMM_NULL)
		MPI_Buffer_detach(&was, &n);
	else
		MPI_Comm_detach_buffer(comm, &was, &n);
	CHECK(was == buffer, "another buffer");
	CHECK_INT(n, bytes);
}

static void flush(MPI_Comm comm, int blocking)
{
	MPI_Request r;
	if (blocking) {
		CHECK_INT(comm == MPI_COMM_NULL ? MPI_Buffer_flush() : MPI_Comm_flush_buffer(comm), MPI_SUCCESS);
		return;
	}
	CHECK_INT(comm == MPI_COMM_NULL ? MPI_Buffer_iflush(&r) : MPI_Comm_iflush_buffer(comm, &r), MPI_SUCCESS);
	CHECK_INT(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
	CHECK(r == MPI_REQUEST_NULL, "the request stays");
}

/* The buffer has room for one message; it is that of comm, or of the process. Messages go on `on`. */
static void one_by_one(MPI_Comm comm, MPI_Comm on, int from, int to)
{
	int bytes = BYTES + MPI_BSEND_OVERHEAD;
	void *buffer = malloc((size_t)bytes);
	attach(comm, buffer, bytes);
	for (int i = 0; i < 6; i++) {
		if (rank == from) {
			fill(data, BYTES, (uint32_t)i);
			CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, on), MPI_SUCCESS);
			MPI_Send(NULL, 0, MPI_BYTE, to, 1, WORLD);
			flush(comm, i % 2);
		} else if (rank == to) {
			MPI_Recv(NULL, 0, MPI_BYTE, from, 1, WORLD, MPI_STATUS_IGNORE);
			memset(data, 0, BYTES);
			MPI_Recv(data, BYTES, MPI_BYTE, from, 0, on, MPI_STATUS_IGNORE);
			CHECK(filled(data, BYTES, (uint32_t)i), "contents of %d", i);
		}
	}
	detach(comm, buffer, bytes);
	free(buffer);
}

/* The request of a flush is not complete before the message is received. */
static void not_before(int from, int to)
{
	int bytes = BYTES + MPI_BSEND_OVERHEAD, flag = 0;
	void *buffer = malloc((size_t)bytes);
	MPI_Request r;
	attach(WORLD, buffer, bytes);
	if (rank == from) {
		CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, WORLD), MPI_SUCCESS);
		CHECK_INT(MPI_Comm_iflush_buffer(WORLD, &r), MPI_SUCCESS);
		for (int i = 0; i < 1000 && !flag; i++)
			MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		CHECK_INT(flag, 0);
		MPI_Send(NULL, 0, MPI_BYTE, to, 1, WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else if (rank == to) {
		MPI_Recv(NULL, 0, MPI_BYTE, from, 1, WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(data, BYTES, MPI_BYTE, from, 0, WORLD, MPI_STATUS_IGNORE);
	}
	detach(WORLD, buffer, bytes);
	free(buffer);
}

/* A message uses the buffer of its communicator, and only where that has none, the buffer of the process. */
static void which(MPI_Comm dup, int from, int to)
{
	int small = 1000, large = BYTES + MPI_BSEND_OVERHEAD;
	void *of_comm = malloc((size_t)small), *of_process = malloc((size_t)large);
	attach(MPI_COMM_NULL, of_process, large);
	attach(dup, of_comm, small);
	if (rank == from) {
		CHECK_INT(class_of(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, dup)), MPI_ERR_BUFFER);
		CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, WORLD), MPI_SUCCESS);
	} else if (rank == to) {
		MPI_Recv(data, BYTES, MPI_BYTE, from, 0, WORLD, MPI_STATUS_IGNORE);
	}
	detach(dup, of_comm, small);
	if (rank == from)
		CHECK_INT(MPI_Buffer_flush(), MPI_SUCCESS);
	if (rank == from)
		CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, dup), MPI_SUCCESS);
	else if (rank == to)
		MPI_Recv(data, BYTES, MPI_BYTE, from, 0, dup, MPI_STATUS_IGNORE);
	detach(MPI_COMM_NULL, of_process, large);
	free(of_comm), free(of_process);
}

/* MPI_BUFFER_AUTOMATIC has room for everything. */
static void automatic(MPI_Comm comm, MPI_Comm on)
{
	MPI_Request r;
	attach(comm, MPI_BUFFER_AUTOMATIC, 0);
	for (int step = 0; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		for (int i = 0; i < 4; i++)
			CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, i, on), MPI_SUCCESS);
		for (int i = 0; i < 4; i++) {
			MPI_Irecv(data + BYTES, BYTES, MPI_BYTE, from, i, on, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
	}
	flush(comm, 1);
	detach(comm, MPI_BUFFER_AUTOMATIC, 0);
}

/* A communicator that spans nothing. */
static void alone(void)
{
	char buffer[1000];
	int got = -1;
	attach(MPI_COMM_SELF, buffer, sizeof buffer);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(MPI_Bsend(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_SUCCESS);
		MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		CHECK_INT(got, i);
		flush(MPI_COMM_SELF, i % 2);
	}
	detach(MPI_COMM_SELF, buffer, sizeof buffer);
}

static void test(void)
{
	MPI_Comm dup;
	MPI_Comm_dup(WORLD, &dup);
	MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
	data = calloc(2, BYTES);
	for (int p = 0; p < size; p++) {
		int from = p, to = (p + 1) % size;
		one_by_one(MPI_COMM_NULL, WORLD, from, to);
		one_by_one(WORLD, WORLD, from, to);
		one_by_one(dup, dup, from, to);
		not_before(from, to);
		which(dup, from, to);
		MPI_Barrier(WORLD);
	}
	alone();
	automatic(MPI_COMM_NULL, WORLD);
	automatic(dup, dup);
	MPI_Comm_free(&dup);
	free(data);
}
#else
static void test(void)
{
	printf("rank %d: MPI %d.%d\n", rank, MPI_VERSION, MPI_SUBVERSION);
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (size > 1)
		test();
	return end();
}
