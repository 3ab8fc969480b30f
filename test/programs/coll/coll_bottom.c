/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives whose buffers are MPI_BOTTOM with datatypes of absolute addresses, on either side or both, with gaps or
 * without, blocking and nonblocking, from few bytes to more than ranks share memory for.
 * twin: layouts=2+2,1+3,3+1,1+1+2 timeout=60 external32=yes
 */
#include "../check.h"

#define MOST 8

/* n ints from p on; gaps: two of every three. */
static MPI_Datatype absolute(int *p, int n, int gaps)
{
	MPI_Datatype ints, type;
	MPI_Aint at;
	int one = 1;
	MPI_Get_address(p, &at);
	if (gaps)
		MPI_Type_vector(n / 2, 2, 3, MPI_INT, &ints);
	else
		MPI_Type_contiguous(n, MPI_INT, &ints);
	MPI_Type_create_struct(1, &one, &at, &ints, &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&ints);
	return type;
}

static int place(int i, int gaps)
{
	return gaps ? i / 2 * 3 + i % 2 : i;
}

static int value(int from, int to, int i)
{
	return 100000 * from + 10000 * to + i;
}

struct trial {
	int n, gaps, nonblocking;
	int *one, *all, *plain;	       /* [2 n], [2 n] for each rank, [n] for each rank */
	MPI_Datatype mine, each[MOST]; /* one; all: with gaps where one has none */
};

static void wait_for(MPI_Request *q)
{
	MPI_Wait(q, MPI_STATUS_IGNORE);
}

static void clear(struct trial *t)
{
	for (int i = 0; i < 2 * t->n * size; i++)
		t->all[i] = -1;
	for (int i = 0; i < t->n * size; i++)
		t->plain[i] = -1;
}

static void try_to_all(struct trial *t)
{
	int ones[MOST], zeros[MOST];
	MPI_Datatype mine[MOST];
	MPI_Request q;
	for (int r = 0; r < size; r++)
		ones[r] = 1, zeros[r] = 0, mine[r] = t->mine;
	for (int i = 0; i < t->n; i++)
		t->one[place(i, t->gaps)] = value(rank, 0, i);
	clear(t);
	if (t->nonblocking) {
		MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, mine, MPI_BOTTOM, ones, zeros, t->each, WORLD, &q);
		wait_for(&q);
	} else {
		MPI_Alltoallw(MPI_BOTTOM, ones, zeros, mine, MPI_BOTTOM, ones, zeros, t->each, WORLD);
	}
	for (int r = 0; r < size; r++)
		for (int i = 0; i < t->n; i++)
			CHECK_INT(t->all[r * 2 * t->n + place(i, !t->gaps)], value(r, 0, i));
	clear(t);
	if (t->nonblocking) {
		MPI_Iallgather(MPI_BOTTOM, 1, t->mine, t->plain, t->n, MPI_INT, WORLD, &q);
		wait_for(&q);
	} else {
		MPI_Allgather(MPI_BOTTOM, 1, t->mine, t->plain, t->n, MPI_INT, WORLD);
	}
	for (int i = 0; i < t->n * size; i++)
		CHECK_INT(t->plain[i], value(i / t->n, 0, i % t->n));
}

static void try_rooted(struct trial *t, int root)
{
	MPI_Request q;
	for (int i = 0; i < t->n; i++)
		t->one[place(i, t->gaps)] = value(rank, root, i);
	clear(t);
	if (t->nonblocking) {
		MPI_Igather(MPI_BOTTOM, 1, t->mine, t->plain, t->n, MPI_INT, root, WORLD, &q);
		wait_for(&q);
	} else {
		MPI_Gather(MPI_BOTTOM, 1, t->mine, t->plain, t->n, MPI_INT, root, WORLD);
	}
	for (int i = 0; i < t->n * size && rank == root; i++)
		CHECK_INT(t->plain[i], value(i / t->n, root, i % t->n));
	if (t->nonblocking) {
		MPI_Ibcast(MPI_BOTTOM, 1, t->mine, root, WORLD, &q);
		wait_for(&q);
	} else {
		MPI_Bcast(MPI_BOTTOM, 1, t->mine, root, WORLD);
	}
	for (int i = 0; i < t->n; i++)
		CHECK_INT(t->one[place(i, t->gaps)], value(root, root, i));
	for (int i = 0; i < t->n * size; i++)
		t->plain[i] = value(rank, i / t->n, i % t->n);
	if (t->nonblocking) {
		MPI_Iscatter(t->plain, t->n, MPI_INT, MPI_BOTTOM, 1, t->mine, root, WORLD, &q);
		wait_for(&q);
	} else {
		MPI_Scatter(t->plain, t->n, MPI_INT, MPI_BOTTOM, 1, t->mine, root, WORLD);
	}
	for (int i = 0; i < t->n; i++)
		CHECK_INT(t->one[place(i, t->gaps)], value(root, rank, i));
}

int main(int argc, char **argv)
{
	static const int lengths[] = {2, 40, 40000};
	begin(&argc, &argv);
	for (int i = 0; i < 12; i++) {
		struct trial t = {.n = lengths[i / 4], .gaps = i & 1, .nonblocking = i >> 1 & 1};
		t.one = malloc(2 * (size_t)t.n * sizeof(int));
		t.all = malloc(2 * (size_t)(t.n * size) * sizeof(int));
		t.plain = malloc((size_t)(t.n * size) * sizeof(int));
		t.mine = absolute(t.one, t.n, t.gaps);
		for (int r = 0; r < size; r++)
			t.each[r] = absolute(t.all + r * 2 * t.n, t.n, !t.gaps);
		try_to_all(&t);
		for (int root = 0; root < size; root++)
			try_rooted(&t, root);
		MPI_Type_free(&t.mine);
		for (int r = 0; r < size; r++)
			MPI_Type_free(&t.each[r]);
		free(t.one);
		free(t.all);
		free(t.plain);
		printf("rank %d: %d ints, gaps %d, nonblocking %d: done\n", rank, t.n, t.gaps, t.nonblocking);
	}
	return end();
}
