/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking and persistent collectives: many at once on several communicators, completed in any order, mixed with
 * messages; datatypes and operations freed while they are under way; large-count forms.
 * twin: timeout=60 */
#include "coll_comms.h"

static void add_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *x = in, *y = inout;
	(void)type;
	for (int i = 0; i < *n; i++)
		y[i] += x[i];
}

/* One of each kind on every communicator, all outstanding together. */
static void many(void)
{
	enum { KINDS = 11, N = 600 };
	static int buf[COMMS][KINDS][2][16 * N];
	MPI_Request q[COMMS * KINDS];
	int nq = 0, *b[2];
	for (int i = 0; i < COMMS; i++) {
		if (!use_comm(i))
			continue;
		for (int k = 0; k < KINDS; k++) {
			b[0] = buf[i][k][0], b[1] = buf[i][k][1];
			for (int j = 0; j < N * np; j++)
				b[0][j] = me + j;
			switch (k) {
			case 0:
				MPI_Ibarrier(comm, &q[nq++]);
				break;
			case 1:
				MPI_Ibcast(b[0], N, MPI_INT, np - 1, comm, &q[nq++]);
				break;
			case 2:
				MPI_Iallreduce(b[0], b[1], N, MPI_INT, MPI_SUM, comm, &q[nq++]);
				break;
			case 3:
				MPI_Iallgather(b[0], N, MPI_INT, b[1], N, MPI_INT, comm, &q[nq++]);
				break;
			case 4:
				MPI_Ialltoall(b[0], N, MPI_INT, b[1], N, MPI_INT, comm, &q[nq++]);
				break;
			case 5:
				MPI_Igather(b[0], N, MPI_INT, b[1], N, MPI_INT, np / 2, comm, &q[nq++]);
				break;
			case 6:
				MPI_Iscatter(b[0], N, MPI_INT, b[1], N, MPI_INT, np / 2, comm, &q[nq++]);
				break;
			case 7:
				MPI_Iscan(b[0], b[1], N, MPI_INT, MPI_SUM, comm, &q[nq++]);
				break;
			case 8:
				MPI_Ireduce(b[0], b[1], N, MPI_INT, MPI_MAX, 0, comm, &q[nq++]);
				break;
			case 9:
				MPI_Ireduce_scatter_block(b[0], b[1], N, MPI_INT, MPI_SUM, comm, &q[nq++]);
				break;
			case 10:
				MPI_Iexscan(b[0], b[1], N, MPI_INT, MPI_SUM, comm, &q[nq++]);
				break;
			}
		}
	}
	/* messages meanwhile */
	int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1;
	MPI_Sendrecv(&rank, 1, MPI_INT, to, 9, &got, 1, MPI_INT, from, 9, WORLD, MPI_STATUS_IGNORE);
	CHECK_INT(got, from);
	/* the later half first, one by one */
	for (int i = nq - 1; i >= nq / 2; i--)
		MPI_Wait(&q[i], MPI_STATUS_IGNORE);
	for (int i = 0; i < nq / 2; i++) /* not Testall: MPICH 4.0.2 fails an assertion in it with collectives */
		for (int flag = 0; !flag;)
			MPI_Test(&q[i], &flag, MPI_STATUS_IGNORE);
	for (int i = 0; i < COMMS; i++) {
		if (!use_comm(i))
			continue;
		int tri = np * (np - 1) / 2;
		for (int j = 0; j < N; j++) {
			CHECK_INT(buf[i][1][0][j], np - 1 + j);
			CHECK_INT(buf[i][2][1][j], tri + np * j);
			for (int r = 0; r < np; r++) {
				CHECK(buf[i][3][1][r * N + j] == r + j, "allgather comm %d r %d j %d", i, r, j);
				CHECK_INT(buf[i][4][1][r * N + j], r + me * N + j);
				if (me == np / 2)
					CHECK_INT(buf[i][5][1][r * N + j], r + j);
			}
			CHECK_INT(buf[i][6][1][j], np / 2 + me * N + j);
			CHECK_INT(buf[i][7][1][j], me * (me + 1) / 2 + (me + 1) * j);
			if (me == 0)
				CHECK_INT(buf[i][8][1][j], np - 1 + j);
			CHECK_INT(buf[i][9][1][j], tri + np * (me * N + j));
			if (me > 0)
				CHECK_INT(buf[i][10][1][j], me * (me - 1) / 2 + me * j);
		}
	}
}

/* The application frees type, operation and communicator right after the call. */
static void freed(void)
{
	int x[64], y[64], z[64], w[16 * 8], v[16 * 8], sc[16], sd[16];
	MPI_Comm dup;
	MPI_Request q[4];
	MPI_Comm_dup(WORLD, &dup);
	for (int round = 0; round < 3; round++) {
		MPI_Datatype t, types[16];
		MPI_Op op;
		MPI_Op_create(add_op, 0, &op);
		MPI_Type_vector(8, 1, 2, MPI_INT, &t);
		MPI_Type_commit(&t);
		for (int i = 0; i < 64; i++) {
			x[i] = rank == 1 ? i : -1;
			y[i] = rank;
		}
		MPI_Ibarrier(dup, &q[0]); /* the others wait behind it */
		MPI_Ibcast(x, 2, t, 1, dup, &q[1]);
		MPI_Iallreduce(y, z, 10, MPI_INT, op, dup, &q[2]);
		for (int r = 0; r < size; r++) {
			types[r] = t;
			sc[r] = 1;
			sd[r] = r * 8 * (int)sizeof(int);
		}
		for (int i = 0; i < 16 * 8; i++)
			w[i] = rank * 1000 + i, v[i] = -1;
		MPI_Datatype eight;
		MPI_Type_contiguous(4, MPI_INT, &eight);
		MPI_Type_commit(&eight);
		for (int r = 0; r < size; r++)
			types[r] = eight;
		MPI_Ialltoallw(w, sc, sd, types, v, sc, sd, types, dup, &q[3]);
		MPI_Type_free(&t);
		MPI_Type_free(&eight);
		MPI_Op_free(&op);
		if (round == 2)
			MPI_Comm_free(&dup);
		/* other types and operations that may get the same handles */
		MPI_Type_contiguous(3, MPI_DOUBLE, &t);
		MPI_Type_commit(&t);
		MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
		MPI_Type_free(&t);
		/* two vectors: the second begins at the extent of the first, 15 ints */
		for (int i = 0; i < 8; i++) {
			CHECK_INT(x[2 * i], 2 * i);
			CHECK_INT(x[15 + 2 * i], 15 + 2 * i);
		}
		CHECK_INT(z[9], size * (size - 1) / 2);
		for (int r = 0; r < size; r++) {
			CHECK_INT(v[r * 8 + 3], r * 1000 + rank * 8 + 3);
			CHECK_INT(v[r * 8 + 4], -1);
		}
	}
}

#if MPI_VERSION >= 4
static void persistent(void)
{
	int x[4], y[4], g[64];
	MPI_Request q[4];
	MPI_Datatype t;
	MPI_Status st;
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Barrier_init(WORLD, MPI_INFO_NULL, &q[0]);
	MPI_Bcast_init(x, 2, t, 1, WORLD, MPI_INFO_NULL, &q[1]);
	MPI_Allreduce_init(x, y, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &q[2]);
	MPI_Allgather_init(&rank, 1, MPI_INT, g, 1, MPI_INT, WORLD, MPI_INFO_NULL, &q[3]);
	MPI_Type_free(&t);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 4; i++)
			x[i] = rank == 1 ? round * 10 + i : -1;
		MPI_Startall(2, q);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		MPI_Start(&q[2]);
		MPI_Start(&q[3]);
		MPI_Wait(&q[3], &st);
		MPI_Wait(&q[2], &st);
		CHECK(q[2] != MPI_REQUEST_NULL, "a persistent request was freed");
		for (int i = 0; i < 4; i++) {
			CHECK_INT(x[i], round * 10 + i);
			CHECK_INT(y[i], (round * 10 + i) * size);
		}
		CHECK_INT(g[size - 1], size - 1);
	}
	MPI_Wait(&q[2], &st); /* inactive: at once */
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&q[i]);
}

static void large_counts(void)
{
	long x[8], y[8 * 16];
	MPI_Count counts[16], n = 8;
	MPI_Aint displs[16];
	for (int i = 0; i < 8; i++)
		x[i] = rank + i;
	MPI_Allreduce_c(x, y, n, MPI_LONG, MPI_SUM, WORLD);
	CHECK_INT(y[7], size * (size - 1) / 2 + 7 * size);
	for (int r = 0; r < size; r++) {
		counts[r] = r % 3;
		displs[r] = r * 8;
	}
	MPI_Allgatherv_c(x, counts[rank], MPI_LONG, y, counts, displs, MPI_LONG, WORLD);
	for (int r = 0; r < size; r++)
		if (counts[r] > 1)
			CHECK_INT(y[r * 8 + 1], r + 1);
	MPI_Bcast_c(x, n, MPI_LONG, size - 1, WORLD);
	CHECK_INT(x[3], size + 2);
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	make_comms();
	many();
	many();
	freed();
#if MPI_VERSION >= 4
	persistent();
	large_counts();
#endif
	free_comms();
	return end();
}
