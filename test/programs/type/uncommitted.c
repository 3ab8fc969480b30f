/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes that are not committed: every call that is to move some says so, in all ranks, and none waits.
 * twin: ranks=4 */
#include "../check.h"

static MPI_Comm ring;

static void report(const char *what, const char *of, int rc)
{
	int class = -1;
	MPI_Error_class(rc, &class);
	CHECK(class == MPI_ERR_TYPE, "%s of %s: class %d", what, of, class);
}

static void multiply(void *in, void *out, int *n, MPI_Datatype *t)
{
	(void)in, (void)out, (void)n, (void)t;
}

#define REFUSED(CALL) report(#CALL, of, CALL)

static void point_to_point(MPI_Datatype t, const char *of, int peer)
{
	int a[8] = {0}, b[8] = {0};
	MPI_Request q;
	REFUSED(MPI_Send(a, 1, t, peer, 1, WORLD));
	REFUSED(MPI_Send(a, 1, t, MPI_PROC_NULL, 1, WORLD));
	REFUSED(MPI_Isend(a, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Issend(a, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Ibsend(a, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Irsend(a, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Send_init(a, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Recv(b, 1, t, peer, 1, WORLD, MPI_STATUS_IGNORE));
	REFUSED(MPI_Irecv(b, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Irecv(b, 1, t, MPI_ANY_SOURCE, 1, WORLD, &q));
	REFUSED(MPI_Recv_init(b, 1, t, peer, 1, WORLD, &q));
	REFUSED(MPI_Sendrecv(a, 1, t, peer, 1, b, 1, t, peer, 1, WORLD, MPI_STATUS_IGNORE));
	REFUSED(MPI_Sendrecv(a, 1, MPI_INT, peer, 1, b, 1, t, peer, 1, WORLD, MPI_STATUS_IGNORE));
	REFUSED(MPI_Sendrecv_replace(a, 1, t, peer, 1, peer, 1, WORLD, MPI_STATUS_IGNORE));
}

static void collectives(MPI_Datatype t, const char *of)
{
	int a[128] = {0}, b[128] = {0}, ones[32], displs[32], bytes[32];
	MPI_Datatype types[32];
	MPI_Request q;
	MPI_Op op;
	for (int i = 0; i < 32; i++)
		ones[i] = 1, displs[i] = i, bytes[i] = 16 * i, types[i] = t;
	MPI_Op_create(multiply, 1, &op);
	REFUSED(MPI_Bcast(a, 1, t, 0, WORLD));
	REFUSED(MPI_Ibcast(a, 1, t, 0, WORLD, &q));
	REFUSED(MPI_Bcast_init(a, 1, t, 0, WORLD, MPI_INFO_NULL, &q));
	REFUSED(MPI_Gather(a, 1, t, b, 1, t, 0, WORLD));
	REFUSED(MPI_Gatherv(a, 1, t, b, ones, displs, t, 0, WORLD));
	REFUSED(MPI_Scatter(a, 1, t, b, 1, t, 0, WORLD));
	REFUSED(MPI_Scatterv(a, ones, displs, t, b, 1, t, 0, WORLD));
	REFUSED(MPI_Allgather(a, 1, t, b, 1, t, WORLD));
	REFUSED(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, t, WORLD));
	REFUSED(MPI_Allgatherv(a, 1, t, b, ones, displs, t, WORLD));
	REFUSED(MPI_Alltoall(a, 1, t, b, 1, t, WORLD));
	REFUSED(MPI_Alltoallv(a, ones, displs, t, b, ones, displs, t, WORLD));
	REFUSED(MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, WORLD));
	REFUSED(MPI_Reduce(a, b, 1, t, op, 0, WORLD));
	REFUSED(MPI_Allreduce(a, b, 1, t, op, WORLD));
	REFUSED(MPI_Iallreduce(a, b, 1, t, op, WORLD, &q));
	REFUSED(MPI_Scan(a, b, 1, t, op, WORLD));
	REFUSED(MPI_Exscan(a, b, 1, t, op, WORLD));
	REFUSED(MPI_Reduce_scatter_block(a, b, 1, t, op, WORLD));
	REFUSED(MPI_Reduce_scatter(a, b, ones, t, op, WORLD));
	REFUSED(MPI_Neighbor_allgather(a, 1, t, b, 1, t, ring));
	REFUSED(MPI_Neighbor_alltoallv(a, ones, displs, t, b, ones, displs, t, ring));
	REFUSED(MPI_Ineighbor_alltoall(a, 1, t, b, 1, t, ring, &q));
	MPI_Op_free(&op);
}

/* Committed after all it is as good as any. */
static void used(MPI_Datatype t, int gap, int peer)
{
	int a[4] = {rank, rank, rank, rank}, b[4] = {-1, -1, -1, -1};
	MPI_Sendrecv(a, 1, t, peer, 2, b, 1, t, peer, 2, WORLD, MPI_STATUS_IGNORE);
	CHECK_INT(b[0], peer);
	CHECK_INT(b[gap], peer);
	MPI_Bcast(a, 1, t, 0, WORLD);
	CHECK_INT(a[0], 0);
	CHECK_INT(a[gap], 0);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	const int peer = (rank + size / 2) % size;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Cart_create(WORLD, 1, &size, &(int){1}, 0, &ring);
	for (int gap = 1; gap < 3; gap++) {
		MPI_Datatype t;
		const char *of = gap == 1 ? "one piece" : "two pieces";
		MPI_Type_vector(2, 1, gap, MPI_INT, &t);
		point_to_point(t, of, peer);
		collectives(t, of);
		MPI_Type_commit(&t);
		used(t, gap, peer);
		MPI_Type_free(&t);
	}
	MPI_Comm_free(&ring);
	return end();
}
