/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of one rank to several clusters at once, between its messages to single ranks: streams change their way and
 * must keep their order; many in flight; every size; every root.  twin: ranks=6 layouts=2+2+2,1+1+4,1+1+1+1+1+1 tcp=yes
 * one_sided=yes
 */
#include "../check.h"

#define ROUNDS 40
#define LARGE 700000

static const int sizes[] = {0, 1, 8, 1000, 16384, 32768, 32769, 131072, 131073, 300000, LARGE};
#define SIZES (int)(sizeof(sizes) / sizeof(sizes[0]))
static char buf[LARGE];

static uint32_t sum(const char *b, int n)
{
	uint32_t s = 1;
	for (int i = 0; i < n; i++)
		s = s * 31 + (unsigned char)b[i];
	return s;
}

static void every_size_from_every_root(void)
{
	for (int i = 0; i < SIZES; i++)
		for (int root = 0; root < size; root += 1 + (sizes[i] > 20000)) {
			uint32_t seed = (uint32_t)(100 * i + root);
			char want[16];
			if (rank == root)
				fill(buf, sizes[i], seed);
			MPI_Bcast(buf, sizes[i], MPI_CHAR, root, WORLD);
			fill(want, 16, seed);
			if (sizes[i] >= 16 && memcmp(buf, want, 16) != 0)
				printf("rank %d: wrong bytes of %d from %d\n", rank, sizes[i], root);
			printf("rank %d: %d from %d is %08x\n", rank, sizes[i], root, sum(buf, sizes[i]));
		}
}

/* A root that sends to single ranks between broadcasts; both kinds of receives are checked for order. */
static void between_other_messages(void)
{
	int got, root = 0;
	for (int k = 0; k < ROUNDS; k++) {
		int n = sizes[k % SIZES], from_root = k, token = k * 7;
		if (k == ROUNDS / 2)
			root = size - 1;
		for (int r = 0; rank == root && r < size; r++)
			if (r != root)
				MPI_Send(&from_root, 1, MPI_INT, r, 5, WORLD);
		if (rank == root)
			fill(buf, n, (uint32_t)k);
		MPI_Bcast(buf, n, MPI_CHAR, root, WORLD);
		for (int r = 0; rank == root && r < size; r++)
			if (r != root)
				MPI_Send(&token, 1, MPI_INT, r, 5, WORLD);
		if (rank != root) {
			MPI_Recv(&got, 1, MPI_INT, root, 5, WORLD, MPI_STATUS_IGNORE);
			CHECK_INT(got, k);
			MPI_Recv(&got, 1, MPI_INT, root, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
			CHECK_INT(got, k * 7);
		}
		if (k % 8 == 7)
			printf("rank %d: round %d is %08x\n", rank, k, sum(buf, n));
	}
}

/* More small ones in flight than windows hold, and several large ones. */
static void many_at_once(void)
{
	enum { MANY = 400, BIG = 5 };
	static int small[MANY][64];
	static char big[BIG][200000];
	MPI_Request r[MANY + BIG];
	for (int k = 0; k < MANY; k++) {
		for (int i = 0; i < 64; i++)
			small[k][i] = rank == 1 ? 64 * k + i : -1;
		MPI_Ibcast(small[k], 64, MPI_INT, 1, WORLD, &r[k]);
	}
	for (int k = 0; k < BIG; k++) {
		if (rank == 2)
			fill(big[k], sizeof(big[k]), (uint32_t)k);
		MPI_Ibcast(big[k], sizeof(big[k]), MPI_CHAR, 2, WORLD, &r[MANY + k]);
	}
	MPI_Waitall(MANY + BIG, r, MPI_STATUSES_IGNORE);
	for (int k = 0; k < MANY; k++)
		for (int i = 0; i < 64; i++)
			if (small[k][i] != 64 * k + i)
				printf("rank %d: wrong small message %d\n", rank, k);
	printf("rank %d: large ones are %08x %08x\n", rank, sum(big[0], 200000), sum(big[BIG - 1], 200000));
}

/* The leaders' exchanges, with types that have gaps. */
static void exchanges(void)
{
	static int all[6 * 30000], in[60000], out[60000];
	MPI_Datatype every_other;
	for (int n = 1; n <= 30000; n *= 30) {
		for (int i = 0; i < n; i++)
			in[i] = 1000 * rank + i;
		MPI_Allgather(in, n, MPI_INT, all, n, MPI_INT, WORLD);
		printf("rank %d: gathered %d is %08x\n", rank, n, sum((char *)all, 4 * n * size));
		MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, WORLD);
		printf("rank %d: reduced %d is %08x\n", rank, n, sum((char *)out, 4 * n));
		MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
		MPI_Type_commit(&every_other);
		memset(out, 0, sizeof(out));
		for (int i = 0; rank == 3 && i < n; i++)
			out[2 * i] = i * i + 1;
		MPI_Bcast(out, 1, every_other, 3, WORLD);
		MPI_Type_free(&every_other);
		printf("rank %d: every other of %d is %08x\n", rank, n, sum((char *)out, 8 * n));
	}
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	every_size_from_every_root();
	between_other_messages();
	many_at_once();
	exchanges();
	return end();
}
