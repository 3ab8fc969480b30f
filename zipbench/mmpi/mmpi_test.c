/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of MMPI give the results that MPI's would give. Prints TAP.
 *
 *     mpiexec -n 1+LOW+HIGH mmpi_test LOW
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipbench/mmpi/mmpi.h"

#define LARGE 200000 /* ints: by rendezvous in any MPI */

static int me, size, tests, wrong; /* wrong: in this process, since the last report */

static int value(int from, int to, int i)
{
	return from * 1000003 + to * 10007 + i;
}

static void expect(int got, int wanted)
{
	wrong += got != wanted;
}

/* Collects the errors of all ranks; rank 0 prints the result. */
static void report(const char *fmt, ...)
{
	int all = 0;
	char name[128];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	/* every rank tells rank 0 itself, so that a broken reduction cannot hide its own errors */
	if (me > 0)
		MMPI_Send(&wrong, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
	for (int r = 1; me == 0 && r < size; r++) {
		int theirs;
		MMPI_Recv(&theirs, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		all += theirs;
	}
	all += wrong;
	wrong = 0;
	if (me == 0) {
		printf("%s %d - %s\n", all ? "not ok" : "ok", ++tests, name);
		fflush(stdout);
	}
}

static int *ints(int n)
{
	int *p = malloc((size_t)(n ? n : 1) * sizeof(int));
	if (!p)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(p, 0xff, (size_t)(n ? n : 1) * sizeof(int));
	return p;
}

/* Every pair in both directions, one after the other. */
static void send_recv(int n)
{
	int *buf = ints(n);
	for (int a = 0; a < size; a++)
		for (int b = 0; b < size; b++) {
			if (a == b || (me != a && me != b))
				continue;
			for (int i = 0; i < n && me == a; i++)
				buf[i] = value(a, b, i);
			if (me == a) {
				MMPI_Send(buf, n, MPI_INT, b, 5, MPI_COMM_WORLD);
				continue;
			}
			memset(buf, 0xff, (size_t)n * sizeof(int));
			MMPI_Recv(buf, n, MPI_INT, a, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < n; i++)
				expect(buf[i], value(a, b, i));
		}
	free(buf);
	report("MMPI_Send and MMPI_Recv of %d integers between all pairs", n);
}

/* All to all at the same time. Each receiver gets two messages from each sender, and asks for the second one first. */
static void isend_irecv(int n)
{
	MPI_Request *r = malloc((size_t)size * 4 * sizeof(*r));
	int *out = ints(2 * n * size), *in = ints(2 * n * size), nr = 0;
	for (int k = 0; k < 2 * size * n; k++)
		out[k] = value(me, k / n, k % n);
	for (int to = 0; to < size; to++)
		for (int m = 0; m < 2 && to != me; m++)
			MMPI_Isend(out + (2 * to + m) * n, n, MPI_INT, to, 20 + m, MPI_COMM_WORLD, &r[nr++]);
	for (int m = 1; m >= 0; m--)
		for (int from = 0; from < size; from++)
			if (from != me)
				MMPI_Irecv(in + (2 * from + m) * n, n, MPI_INT, from, 20 + m, MPI_COMM_WORLD, &r[nr++]);
	while (nr > 0)
		MPI_Wait(&r[--nr], MPI_STATUS_IGNORE);
	for (int from = 0; from < size; from++)
		for (int k = 0; k < 2 * n && from != me; k++)
			expect(in[2 * from * n + k], value(from, 2 * me + k / n, k % n));
	free(in);
	free(out);
	free(r);
	report("MMPI_Isend and MMPI_Irecv of %d integers, out of order", n);
}

/* No rank leaves before the last one has come: ranks compare their times with the last one's. */
static void barrier(void)
{
	for (int last = 0; last < size; last++) {
		double before, after;
		MMPI_Barrier(MPI_COMM_WORLD);
		for (double until = MPI_Wtime() + 0.01; me == last && MPI_Wtime() < until;)
			;
		before = MPI_Wtime(); /* one clock on one host */
		MMPI_Barrier(MPI_COMM_WORLD);
		after = MPI_Wtime();
		MMPI_Bcast(&before, 1, MPI_DOUBLE, last, MPI_COMM_WORLD);
		expect(after >= before, 1);
	}
	report("MMPI_Barrier: nobody leaves before the last one has come");
}

static void bcast(int n)
{
	int *buf = ints(n);
	for (int root = 0; root < size; root++) {
		for (int i = 0; i < n; i++)
			buf[i] = me == root ? value(root, 0, i) : -1;
		MMPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD);
		for (int i = 0; i < n; i++)
			expect(buf[i], value(root, 0, i));
	}
	free(buf);
	report("MMPI_Bcast of %d integers from every rank", n);
}

static void alltoall(int n)
{
	int *out = ints(n * size), *in = ints(n * size);
	for (int k = 0; k < n * size; k++)
		out[k] = value(me, k / n, k % n);
	MMPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
	for (int k = 0; k < n * size; k++)
		expect(in[k], value(k / n, me, k % n));
	free(in);
	free(out);
	report("MMPI_Alltoall of %d integers", n);
}

/* Rank a sends (a + 2b) % 4 * n integers to rank b; gaps of one integer between the blocks. */
static int counted(int a, int b, int n)
{
	return (a + 2 * b) % 4 * n;
}

static void alltoallv(int n)
{
	int *out = ints((3 * n + 1) * size), *in = ints((3 * n + 1) * size), *c = ints(4 * size);
	int *sc = c, *sd = c + size, *rc = c + 2 * size, *rd = c + 3 * size;
	for (int r = 0; r < size; r++) {
		sc[r] = counted(me, r, n);
		rc[r] = counted(r, me, n);
		sd[r] = rd[r] = (3 * n + 1) * r;
		for (int i = 0; i < sc[r]; i++)
			out[sd[r] + i] = value(me, r, i);
	}
	MMPI_Alltoallv(out, sc, sd, MPI_INT, in, rc, rd, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < size; r++) {
		for (int i = 0; i < rc[r]; i++)
			expect(in[rd[r] + i], value(r, me, i));
		expect(in[rd[r] + rc[r]], -1); /* behind the block */
	}
	free(c);
	free(in);
	free(out);
	report("MMPI_Alltoallv of up to %d integers", 3 * n);
}

static void reductions(int n)
{
	int *in = ints(n), *out = ints(n);
	for (int i = 0; i < n; i++)
		in[i] = (me + 1) * (i % 5 + 1);
	for (int root = 0; root < size; root++) {
		memset(out, 0xff, (size_t)n * sizeof(int));
		MMPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
		for (int i = 0; i < n; i++)
			expect(out[i], me == root ? size * (size + 1) / 2 * (i % 5 + 1) : -1);
	}
	report("MMPI_Reduce of %d integers to every rank", n);
	MMPI_Allreduce(in, out, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		expect(out[i], size * (i % 5 + 1));
	report("MMPI_Allreduce of %d integers", n);
	free(out);
	free(in);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (mmpi_begin(argc > 1 ? atoi(argv[1]) : 1)) {
		MMPI_Comm_rank(MPI_COMM_WORLD, &me);
		MMPI_Comm_size(MPI_COMM_WORLD, &size);
		static const int sizes[] = {0, 1, 1000, LARGE};
		for (int i = 0; i < 4; i++) {
			send_recv(sizes[i]);
			isend_irecv(sizes[i]);
			bcast(sizes[i]);
			alltoall(sizes[i]);
			alltoallv(sizes[i]);
			reductions(sizes[i]);
		}
		barrier();
		if (me == 0)
			printf("1..%d\n", tests);
		mmpi_end();
	}
	MPI_Finalize();
	return 0;
}
