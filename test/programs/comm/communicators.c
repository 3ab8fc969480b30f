/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators made in every way and nested, crossing the clusters or not; traffic in one never meets another's.
 * twin: tcp=yes
 */
#include "../check.h"

/* A collective, a ring and a wildcard in c; prints what it looks like from here. */
static void exercise(MPI_Comm c, const char *name)
{
	if (c == MPI_COMM_NULL) {
		printf("rank %d: %s: not in it\n", rank, name);
		return;
	}
	int r, n, sum = 0, got = -1, result;
	MPI_Status st;
	MPI_Comm_rank(c, &r);
	MPI_Comm_size(c, &n);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
	int ranks[64];
	MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, c);
	CHECK_INT(ranks[r], rank);
	MPI_Request q;
	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, c, &q);
	MPI_Send(&rank, 1, MPI_INT, (r + 1) % n, 3, c);
	MPI_Wait(&q, &st);
	CHECK_INT(st.MPI_SOURCE, (r + n - 1) % n);
	CHECK_INT(got, ranks[(r + n - 1) % n]);
	int root = n - 1, value = r == root ? rank : -1;
	MPI_Bcast(&value, 1, MPI_INT, root, c);
	CHECK_INT(value, ranks[root]);
	MPI_Comm_compare(WORLD, c, &result);
	MPI_Comm_test_inter(c, &got);
	CHECK_INT(got, 0);
	printf("rank %d: %s: %d of %d, sum %d, first %d, compares as %s\n", rank, name, r, n, sum, ranks[0],
		result == MPI_IDENT	  ? "ident"
		: result == MPI_CONGRUENT ? "congruent"
		: result == MPI_SIMILAR	  ? "similar"
					  : "unequal");
}

/* The same tag between the same ranks in two communicators, received in the other order. */
static void isolation(MPI_Comm a, MPI_Comm b)
{
	int n, r, x[2], y[2];
	MPI_Comm_size(a, &n);
	MPI_Comm_rank(a, &r);
	x[0] = r * 2, x[1] = r * 2 + 1;
	for (int step = 1; step < n; step++) {
		int to = (r + step) % n, from = (r + n - step) % n;
		MPI_Request q[2];
		MPI_Isend(&x[0], 1, MPI_INT, to, 1, a, &q[0]);
		MPI_Isend(&x[1], 1, MPI_INT, to, 1, b, &q[1]);
		MPI_Recv(&y[1], 1, MPI_INT, step % 2 ? from : MPI_ANY_SOURCE, 1, b, MPI_STATUS_IGNORE);
		MPI_Recv(&y[0], 1, MPI_INT, from, 1, a, MPI_STATUS_IGNORE);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		CHECK_INT(y[0], from * 2);
		CHECK_INT(y[1], from * 2 + 1);
		MPI_Barrier(a);
	}
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm c, d, e, parts[8];
	MPI_Group g, h;
	MPI_Request q;
	int result;

	exercise(WORLD, "world");
	MPI_Comm_dup(WORLD, &d);
	exercise(d, "dup");
	isolation(WORLD, d);
	MPI_Comm_idup(WORLD, &e, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	exercise(e, "idup");
	MPI_Comm_free(&e);
	MPI_Comm_dup_with_info(d, MPI_INFO_NULL, &e);
	exercise(e, "dup of dup with info");
	MPI_Comm_compare(d, e, &result);
	CHECK_INT(result, MPI_CONGRUENT);
	MPI_Comm_compare(d, d, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Comm_free(&e);

	MPI_Comm_split(WORLD, rank % 2, rank, &c);
	exercise(c, "odd and even");
	MPI_Comm_free(&c);
	CHECK(c == MPI_COMM_NULL, "null after free");
	MPI_Comm_split(WORLD, rank * 2 / size, rank, &c);
	exercise(c, "lower and upper half");
	MPI_Comm_free(&c);
	MPI_Comm_split(WORLD, 0, -rank, &c);
	exercise(c, "reversed");
	MPI_Comm_dup(c, &e);
	isolation(c, e);
	MPI_Comm_free(&e);
	MPI_Comm_split(c, rank == 1 ? MPI_UNDEFINED : 5, 0, &e);
	exercise(e, "without rank 1, nested");
	if (e != MPI_COMM_NULL)
		MPI_Comm_free(&e);
	MPI_Comm_free(&c);
	MPI_Comm_split(WORLD, rank == 0 || rank == size - 1, rank, &c);
	exercise(c, "outer and inner");
	MPI_Comm_free(&c);
	MPI_Comm_split(WORLD, rank, 0, &c);
	exercise(c, "each alone");
	MPI_Comm_free(&c);

	MPI_Comm_group(WORLD, &g);
	int odd[64], last[2] = {size - 1, 0}, n = 0;
	for (int i = 1; i < size; i += 2)
		odd[n++] = i;
	MPI_Group_incl(g, n, odd, &h);
	MPI_Comm_create(WORLD, h, &c);
	exercise(c, "create of odd");
	if (c != MPI_COMM_NULL)
		MPI_Comm_free(&c);
	MPI_Group_free(&h);
	MPI_Group_incl(g, 2, last, &h);
	MPI_Comm_create(d, h, &c);
	exercise(c, "create of last and first");
	if (c != MPI_COMM_NULL)
		MPI_Comm_free(&c);
	if (rank == 0 || rank == size - 1) { /* only its members call it */
		MPI_Comm_create_group(WORLD, h, 17, &c);
		exercise(c, "create_group of last and first");
		MPI_Comm_free(&c);
	}
	MPI_Group_free(&h);
	/* disjoint groups in one call */
	int half[64];
	n = 0;
	for (int i = 0; i < size; i++)
		if ((i < size / 2) == (rank < size / 2))
			half[n++] = i;
	MPI_Group_incl(g, n, half, &h);
	MPI_Comm_create(WORLD, h, &c);
	exercise(c, "create of both halves");
	MPI_Comm_free(&c);
	MPI_Group_free(&h);
	MPI_Group_free(&g);
	MPI_Comm_create(WORLD, MPI_GROUP_EMPTY, &c);
	CHECK(c == MPI_COMM_NULL, "empty group");

	/* many at a time, freed in another order, with requests pending over the free */
	for (int i = 0; i < 8; i++)
		MPI_Comm_dup(i ? parts[i - 1] : WORLD, &parts[i]);
	int out = rank, in = -1;
	MPI_Request p[2];
	MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 9, parts[3], &p[0]);
	MPI_Isend(&out, 1, MPI_INT, (rank + size - 1) % size, 9, parts[3], &p[1]);
	for (int i = 0; i < 8; i += 2)
		MPI_Comm_free(&parts[i]);
	MPI_Comm_free(&parts[3]);
	MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
	CHECK_INT(in, (rank + 1) % size);
	exercise(parts[7], "last of a chain");
	MPI_Comm_free(&parts[7]), MPI_Comm_free(&parts[5]), MPI_Comm_free(&parts[1]);
	for (int i = 0; i < 50; i++) {
		MPI_Comm_split(WORLD, (rank + i) % 2, i % 3 ? rank : -rank, &c);
		MPI_Comm_free(&c);
	}
	MPI_Comm_free(&d);
	return end();
}
