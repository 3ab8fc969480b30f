/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every blocking collective, from every root, in place and not, short and long, on the world and on a reordered half.
 * twin: tcp=yes
 */
#include "../check.h"

static int r, n; /* in the communicator at hand */
static MPI_Comm c;
static const int lengths[] = {0, 1, 5, 3000, 40000};

static int cell(int from, int i)
{
	return from * 100003 + i * 7;
}
static void set(int *v, int count, int from)
{
	for (int i = 0; i < count; i++)
		v[i] = cell(from, i);
}
static void expect(const char *what, const int *v, int count, int from)
{
	for (int i = 0; i < count; i++)
		if (v[i] != cell(from, i)) {
			CHECK(0, "%s: [%d] of %d from %d is %d", what, i, count, from, v[i]);
			return;
		}
}

static void rooted(int root, int len)
{
	int *mine = malloc(sizeof(int) * (len + 1)), *all = malloc(sizeof(int) * (len * n + 1));
	set(mine, len, r == root ? root : -1);
	MPI_Bcast(mine, len, MPI_INT, root, c);
	expect("Bcast", mine, len, root);

	set(mine, len, r);
	MPI_Gather(mine, len, MPI_INT, all, len, MPI_INT, root, c);
	for (int p = 0; r == root && p < n; p++)
		expect("Gather", all + p * len, len, p);
	if (r == root) {
		memset(all, 0, sizeof(int) * len * n);
		set(all + r * len, len, r);
	}
	MPI_Gather(r == root ? MPI_IN_PLACE : mine, len, MPI_INT, all, len, MPI_INT, root, c);
	for (int p = 0; r == root && p < n; p++)
		expect("Gather in place", all + p * len, len, p);

	for (int p = 0; r == root && p < n; p++)
		set(all + p * len, len, p + root);
	memset(mine, 0, sizeof(int) * len);
	MPI_Scatter(all, len, MPI_INT, mine, len, MPI_INT, root, c);
	expect("Scatter", mine, len, r + root);
	MPI_Scatter(all, len, MPI_INT, r == root ? MPI_IN_PLACE : mine, len, MPI_INT, root, c);
	if (r != root)
		expect("Scatter in place", mine, len, r + root);

	set(mine, len, r);
	MPI_Reduce(mine, all, len, MPI_INT, MPI_SUM, root, c);
	for (int i = 0; r == root && i < len; i++)
		CHECK_INT(all[i], 100003 * (n * (n - 1) / 2) + n * i * 7);
	if (r == root)
		set(all, len, r);
	if (root && len > 500)
		memset(all, 0, sizeof(int) * len);
	/* MPICH 4.0.2 crashes in place at another root than 0 from 2 KiB on */
	const void *from = r == root && (root == 0 || len <= 500) ? MPI_IN_PLACE : mine;
	MPI_Reduce(from, all, len, MPI_INT, MPI_MAX, root, c);
	if (r == root)
		expect("Reduce in place", all, len, n - 1);
	free(mine), free(all);
}

static void symmetric(int len)
{
	int *mine = malloc(sizeof(int) * (len + 1)), *all = malloc(sizeof(int) * (len * n + 1)),
	    *other = malloc(sizeof(int) * (len * n + 1));
	set(mine, len, r);
	MPI_Allgather(mine, len, MPI_INT, all, len, MPI_INT, c);
	for (int p = 0; p < n; p++)
		expect("Allgather", all + p * len, len, p);
	memset(other, 0, sizeof(int) * len * n);
	set(other + r * len, len, r);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, len, MPI_INT, c);
	for (int p = 0; p < n; p++)
		expect("Allgather in place", other + p * len, len, p);

	for (int p = 0; p < n; p++)
		set(all + p * len, len, r * n + p);
	MPI_Alltoall(all, len, MPI_INT, other, len, MPI_INT, c);
	for (int p = 0; p < n; p++)
		expect("Alltoall", other + p * len, len, p * n + r);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, len, MPI_INT, c);
	for (int p = 0; p < n; p++)
		expect("Alltoall in place", all + p * len, len, p * n + r);

	set(mine, len, r);
	MPI_Allreduce(mine, other, len, MPI_INT, MPI_SUM, c);
	for (int i = 0; i < len; i++)
		CHECK_INT(other[i], 100003 * (n * (n - 1) / 2) + n * i * 7);
	set(other, len, r);
	MPI_Allreduce(MPI_IN_PLACE, other, len, MPI_INT, MPI_MIN, c);
	expect("Allreduce in place", other, len, 0);

	MPI_Scan(mine, other, len, MPI_INT, MPI_SUM, c);
	for (int i = 0; i < len; i++)
		CHECK_INT(other[i], 100003 * (r * (r + 1) / 2) + (r + 1) * i * 7);
	memset(other, 0, sizeof(int) * len);
	MPI_Exscan(mine, other, len, MPI_INT, MPI_SUM, c);
	for (int i = 0; r && i < len; i++)
		CHECK_INT(other[i], 100003 * (r * (r - 1) / 2) + r * i * 7);
	set(other, len, r);
	MPI_Scan(MPI_IN_PLACE, other, len, MPI_INT, MPI_MAX, c);
	expect("Scan in place", other, len, r);

	for (int p = 0; p < n; p++)
		set(all + p * len, len, r + p);
	MPI_Reduce_scatter_block(all, other, len, MPI_INT, MPI_MAX, c);
	expect("Reduce_scatter_block", other, len, n - 1 + r);
	int counts[64], total = 0;
	for (int p = 0; p < n; p++)
		total += counts[p] = p % 2 ? len / 2 : len;
	for (int i = 0; i < total; i++)
		all[i] = i * (r + 1);
	MPI_Reduce_scatter(all, other, counts, MPI_INT, MPI_SUM, c);
	int start = 0;
	for (int p = 0; p < r; p++)
		start += counts[p];
	for (int i = 0; i < counts[r]; i++)
		CHECK_INT(other[i], (start + i) * (n * (n + 1) / 2));
	free(mine), free(all), free(other);
}

/* Counts that differ, blocks in reverse order with holes between them; the holes stay. */
static void varying(int root)
{
	enum { HOLE = 3 };
	int counts[64], displs[64], rcounts[64], rdispls[64], total = 0;
	for (int p = n - 1; p >= 0; p--) {
		counts[p] = (p * 37) % 5 == 2 ? 0 : p * 200 + 1;
		displs[p] = total;
		total += counts[p] + HOLE;
	}
	int *mine = malloc(sizeof(int) * (n * 200 + 1)), *all = malloc(sizeof(int) * total),
	    *in = malloc(sizeof(int) * (n * (n * 20 + 10)) + 4), *out = malloc(sizeof(int) * (n * (n * 20 + 10)) + 4);

	set(mine, counts[r], r);
	for (int way = 0; way < 3; way++) {
		for (int i = 0; i < total; i++)
			all[i] = -9;
		if (way == 1)
			set(all + displs[r], counts[r], r);
		if (way == 0)
			MPI_Gatherv(mine, counts[r], MPI_INT, all, counts, displs, MPI_INT, root, c);
		else if (way == 1)
			MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, MPI_INT, c);
		else
			MPI_Allgatherv(mine, counts[r], MPI_INT, all, counts, displs, MPI_INT, c);
		for (int p = 0; (way || r == root) && p < n; p++) {
			expect("gatherv", all + displs[p], counts[p], p);
			for (int h = 0; h < HOLE; h++)
				CHECK_INT(all[displs[p] + counts[p] + h], -9);
		}
	}
	for (int p = 0; p < n; p++)
		set(all + displs[p], counts[p], p + 5);
	memset(mine, 0, sizeof(int) * (n * 200 + 1));
	MPI_Scatterv(all, counts, displs, MPI_INT, mine, counts[r], MPI_INT, root, c);
	expect("Scatterv", mine, counts[r], r + 5);
	CHECK_INT(mine[counts[r]], 0);

	/* p gets from q: p + 2q numbers */
	int s = 0, t = 0;
	for (int p = 0; p < n; p++) {
		counts[p] = (p + 2 * r) * 6;
		displs[p] = s, s += counts[p] + 1;
		rcounts[p] = (r + 2 * p) * 6;
		rdispls[p] = t, t += rcounts[p] + 1;
	}
	for (int i = 0; i < t; i++)
		in[i] = -9;
	for (int p = 0; p < n; p++)
		set(out + displs[p], counts[p], r * n + p);
	MPI_Alltoallv(out, counts, displs, MPI_INT, in, rcounts, rdispls, MPI_INT, c);
	for (int p = 0; p < n; p++) {
		expect("Alltoallv", in + rdispls[p], rcounts[p], p * n + r);
		CHECK_INT(in[rdispls[p] + rcounts[p]], -9);
	}
	/* the same in bytes, with types that differ by peer: some send pairs, some ints */
	MPI_Datatype pair, stypes[64], rtypes[64];
	MPI_Type_contiguous(2, MPI_INT, &pair), MPI_Type_commit(&pair);
	for (int p = 0; p < n; p++) {
		stypes[p] = p % 2 ? pair : MPI_INT;
		rtypes[p] = p % 2 ? MPI_INT : pair;
		counts[p] /= p % 2 ? 2 : 1;
		rcounts[p] /= p % 2 ? 1 : 2;
		displs[p] *= 4, rdispls[p] *= 4;
	}
	memset(in, 0, sizeof(int) * t);
	MPI_Alltoallw(out, counts, displs, stypes, in, rcounts, rdispls, rtypes, c);
	for (int p = 0; p < n; p++)
		expect("Alltoallw", in + rdispls[p] / 4, (r + 2 * p) * 6, p * n + r);
	MPI_Type_free(&pair);
	free(mine), free(all), free(in), free(out);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm half;
	MPI_Comm_split(WORLD, rank == 1, -rank, &half); /* all but one, in reverse */
	for (int which = 0; which < 2; which++) {
		c = which ? half : WORLD;
		MPI_Comm_rank(c, &r);
		MPI_Comm_size(c, &n);
		for (int i = 0; i < 5; i++) {
			for (int root = 0; root < n; root++)
				rooted(root, lengths[i]);
			symmetric(lengths[i]);
		}
		for (int root = 0; root < n; root++)
			varying(root);
		for (int i = 0; i < 20; i++)
			MPI_Barrier(c);
		printf("rank %d: communicator %d done\n", rank, which);
	}
	MPI_Comm_free(&half);
	return end();
}
