/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of sessions: the communicators that use them, in one cluster and across, and flushing, which waits until the
 * messages are received. The functions are those of MPI-4.1; with an older MPICH the program does nothing. */
#include "../check.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
#define BYTES (1 << 20)

static char *data;
static MPI_Session session;

static MPI_Comm comm_of(MPI_Group group, const char *tag)
{
	MPI_Comm comm;
	CHECK_INT(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
	return comm;
}

static void detach(const void *buffer, int bytes)
{
	void *was = NULL;
	int n = -1;
	CHECK_INT(MPI_Session_detach_buffer(session, &was, &n), MPI_SUCCESS);
	CHECK(was == buffer, "the buffer comes back");
	CHECK_INT(n, bytes);
}

/* A message from each rank to each, one at a time; the buffer has room for one. */
static void one_by_one(const char *what, MPI_Comm comm)
{
	int bytes = BYTES + MPI_BSEND_OVERHEAD, me, n, class = MPI_SUCCESS;
	void *buffer = malloc((size_t)bytes);
	MPI_Request r;
	CHECK_INT(MPI_Session_attach_buffer(session, buffer, bytes), MPI_SUCCESS);
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int step = 0; step < n; step++) {
		MPI_Irecv(data + BYTES, BYTES, MPI_BYTE, (me + n - step) % n, step, comm, &r);
		class = class_of(MPI_Bsend(data, BYTES, MPI_BYTE, (me + step) % n, step, comm));
		CHECK(class == MPI_SUCCESS, "%s: class %d", what, class);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		if (step % 2) {
			CHECK_INT(MPI_Session_flush_buffer(session), MPI_SUCCESS);
		} else {
			CHECK_INT(MPI_Session_iflush_buffer(session, &r), MPI_SUCCESS);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
	}
	detach(buffer, bytes);
	MPI_Barrier(comm);
	CHECK_INT(class_of(MPI_Bsend(data, BYTES, MPI_BYTE, (me + 1) % n, 0, comm)), MPI_ERR_BUFFER);
	free(buffer);
}

/* The request of a flush is not complete before the message is received. */
static void not_before(MPI_Comm comm, int from, int to)
{
	int bytes = BYTES + MPI_BSEND_OVERHEAD, flag = 0;
	void *buffer = malloc((size_t)bytes);
	MPI_Request r;
	CHECK_INT(MPI_Session_attach_buffer(session, buffer, bytes), MPI_SUCCESS);
	if (rank == from) {
		CHECK_INT(MPI_Bsend(data, BYTES, MPI_BYTE, to, 0, comm), MPI_SUCCESS);
		CHECK_INT(MPI_Session_iflush_buffer(session, &r), MPI_SUCCESS);
		for (int i = 0; i < 1000 && !flag; i++)
			MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		CHECK_INT(flag, 0);
		MPI_Send(NULL, 0, MPI_BYTE, to, 1, comm);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else if (rank == to) {
		MPI_Recv(NULL, 0, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
		MPI_Recv(data, BYTES, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
	}
	detach(buffer, bytes);
	free(buffer);
	MPI_Barrier(comm);
}

static void test(void)
{
	MPI_Group group, reversed, of_world;
	MPI_Comm comm, made;
	int range[1][3] = {{size - 1, 0, -1}};
	data = calloc(2, BYTES);
	CHECK_INT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
	CHECK_INT(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_SUCCESS);
	comm = comm_of(group, "all");
	one_by_one("of the process set", comm);
	for (int p = 0; p < size; p++)
		not_before(comm, p, (p + 1) % size);
	MPI_Comm_dup(comm, &made);
	one_by_one("a duplicate", made);
	MPI_Comm_free(&made);
	MPI_Comm_split(comm, rank / 2, rank, &made); /* in one cluster, most likely */
	one_by_one("a part of it", made);
	MPI_Comm_free(&made);
	MPI_Group_range_incl(group, 1, range, &reversed);
	made = comm_of(reversed, "reversed");
	one_by_one("of a group made of it", made);
	MPI_Comm_free(&made);

	/* members may take their groups from different sources */
	MPI_Comm_group(WORLD, &of_world);
	made = comm_of(rank % 2 ? of_world : group, "mixed");
	MPI_Barrier(made);
	MPI_Comm_free(&made);
	MPI_Group_free(&of_world);
	MPI_Group_free(&reversed);
	MPI_Group_free(&group);
	MPI_Comm_free(&comm);
	CHECK_INT(MPI_Session_finalize(&session), MPI_SUCCESS);
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
