/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move data: every root, zero and uneven counts, different datatypes on both sides, MPI_IN_PLACE.
 * twin: timeout=60 */
#include "coll_comms.h"

#define MAXN 16
#define GUARD 77777

/* Element k of the data that rank `from` has for rank `to`. */
static int value(int from, int to, int k)
{
	return from * 10000 + to * 1000 + k;
}

/* ints with a gap of one after each: extent 8. */
static MPI_Datatype gappy(void)
{
	MPI_Datatype t;
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &t);
	MPI_Type_commit(&t);
	return t;
}

static void barrier(void)
{
	for (int i = 0; i < 3; i++)
		CHECK_INT(MPI_Barrier(comm), MPI_SUCCESS);
}

static void bcast(MPI_Datatype gap)
{
	static int buf[2 * 70000];
	const int counts[] = {0, 1, 5, 1000, 70000};
	for (int root = 0; root < np; root++) {
		for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
			int n = counts[c], strided = (root + me) % 2; /* types differ between the ranks */
			if (n == 70000 && root > 1)
				continue;
			int step = strided ? 2 : 1;
			for (int i = 0; i < 2 * n; i++)
				buf[i] = GUARD;
			for (int i = 0; i < n && me == root; i++)
				buf[i * step] = value(root, n % 7, i);
			MPI_Bcast(buf, n, strided ? gap : MPI_INT, root, comm);
			for (int i = 0; i < n; i++) {
				CHECK_INT(buf[i * step], value(root, n % 7, i));
				if (strided)
					CHECK_INT(buf[2 * i + 1], GUARD);
			}
		}
	}
}

static void gather_scatter(MPI_Datatype gap)
{
	int all[MAXN * 40], mine[80];
	for (int root = 0; root < np; root++) {
		for (int n = 0; n < 6; n += n ? 4 : 1) {
			int in_place = (root + n) % 2;
			for (int i = 0; i < MAXN * 40; i++)
				all[i] = GUARD;
			for (int i = 0; i < 80; i++)
				mine[i] = i % 2 ? GUARD : value(me, root, i / 2);
			if (me == root && in_place)
				for (int i = 0; i < n; i++)
					all[(me * n + i) * 2] = value(me, root, i);
			MPI_Gather(me == root && in_place ? MPI_IN_PLACE : (void *)mine, n, gap, all, n,
				me == root ? gap : MPI_DATATYPE_NULL, root, comm);
			for (int r = 0; r < np && me == root; r++)
				for (int i = 0; i < n; i++) {
					CHECK_INT(all[(r * n + i) * 2], value(r, root, i));
					CHECK_INT(all[(r * n + i) * 2 + 1], GUARD);
				}
			/* and back, to another layout, plus one */
			for (int r = 0; r < np && me == root; r++)
				for (int i = 0; i < n; i++)
					all[(r * n + i) * 2]++;
			for (int i = 0; i < 80; i++)
				mine[i] = GUARD;
			MPI_Scatter(all, n, me == root ? gap : MPI_DATATYPE_NULL,
				me == root && in_place ? MPI_IN_PLACE : (void *)mine, n, MPI_INT, root, comm);
			for (int i = 0; i < n && !(me == root && in_place); i++)
				CHECK_INT(mine[i], value(me, root, i) + 1);
			CHECK_INT(mine[n], GUARD);
		}
	}
}

/* Rank r has r elements (or r * 3000), in slots in reverse order with holes. */
static void vectors(MPI_Datatype gap, int unit)
{
	int *all = malloc(sizeof(int) * 2 * MAXN * (size_t)(MAXN * unit + 1)),
	    *mine = malloc(sizeof(int) * (size_t)(2 * MAXN * unit + 2));
	int counts[MAXN], displs[MAXN], span = np * unit + 1;
	for (int r = 0; r < np; r++) {
		counts[r] = r * unit;
		displs[r] = (np - 1 - r) * span;
	}
	for (int root = 0; root < np; root++) {
		for (int i = 0; i < 2 * np * span; i++)
			all[i] = GUARD;
		for (int i = 0; i < counts[me]; i++)
			mine[i] = value(me, 0, i);
		if (me == root && root % 2)
			for (int i = 0; i < counts[me]; i++)
				all[2 * (displs[me] + i)] = value(me, 0, i);
		MPI_Gatherv(me == root && root % 2 ? MPI_IN_PLACE : (void *)mine, counts[me], MPI_INT, all,
			me == root ? counts : NULL, me == root ? displs : NULL, gap, root, comm);
		for (int r = 0; r < np && me == root; r++) {
			for (int i = 0; i < counts[r]; i++)
				CHECK_INT(all[2 * (displs[r] + i)], value(r, 0, i));
			CHECK_INT(all[2 * (displs[r] + counts[r])], GUARD);
			CHECK_INT(all[2 * displs[r] + 1], GUARD);
		}
		for (int i = 0; i < counts[me] + 1; i++)
			mine[i] = GUARD;
		MPI_Scatterv(all, me == root ? counts : NULL, me == root ? displs : NULL, gap,
			me == root && root % 2 ? MPI_IN_PLACE : (void *)mine, counts[me], MPI_INT, root, comm);
		for (int i = 0; i < counts[me] && !(me == root && root % 2); i++)
			CHECK_INT(mine[i], value(me, 0, i));
		CHECK_INT(mine[counts[me]], GUARD);
	}
	for (int in_place = 0; in_place < 2; in_place++) {
		for (int i = 0; i < 2 * np * span; i++)
			all[i] = GUARD;
		for (int i = 0; i < counts[me]; i++)
			mine[i] = value(me, 3, i);
		for (int i = 0; i < counts[me] && in_place; i++)
			all[2 * (displs[me] + i)] = mine[i];
		MPI_Allgatherv(in_place ? MPI_IN_PLACE : (void *)mine, counts[me], MPI_INT, all, counts, displs, gap,
			comm);
		for (int r = 0; r < np; r++) {
			for (int i = 0; i < counts[r]; i++)
				CHECK_INT(all[2 * (displs[r] + i)], value(r, 3, i));
			CHECK_INT(all[2 * (displs[r] + counts[r])], GUARD);
			CHECK_INT(all[2 * displs[r] + 1], GUARD);
		}
	}
	free(all);
	free(mine);
}

static void allgather(MPI_Datatype gap)
{
	static int all[MAXN * 2 * 9000], mine[9000];
	const int counts[] = {0, 1, 9, 9000};
	for (unsigned c = 0; c < 4; c++) {
		int n = counts[c];
		for (int variant = 0; variant < 3; variant++) {
			MPI_Datatype t = variant == 1 ? gap : MPI_INT;
			int step = variant == 1 ? 2 : 1;
			for (int i = 0; i < np * n * step; i++)
				all[i] = GUARD;
			for (int i = 0; i < n; i++)
				mine[i] = value(me, variant, i);
			for (int i = 0; i < n && variant == 2; i++)
				all[me * n + i] = mine[i];
			MPI_Allgather(variant == 2 ? MPI_IN_PLACE : (void *)mine, n, MPI_INT, all, n, t, comm);
			for (int r = 0; r < np; r++)
				for (int i = 0; i < n; i++)
					CHECK_INT(all[(r * n + i) * step], value(r, variant, i));
		}
	}
}

static void alltoall(MPI_Datatype gap)
{
	static int out[MAXN * 5000], in[MAXN * 2 * 5000];
	const int counts[] = {0, 1, 3, 5000};
	for (unsigned c = 0; c < 4; c++) {
		int n = counts[c];
		for (int variant = 0; variant < 3; variant++) {
			MPI_Datatype t = variant == 1 ? gap : MPI_INT;
			int step = variant == 1 ? 2 : 1;
			for (int r = 0; r < np; r++)
				for (int i = 0; i < n; i++) {
					out[r * n + i] = value(me, r, i);
					in[(r * n + i) * step] = variant == 2 ? value(me, r, i) : GUARD;
				}
			MPI_Alltoall(variant == 2 ? MPI_IN_PLACE : (void *)out, n, MPI_INT, in, n, t, comm);
			for (int r = 0; r < np; r++)
				for (int i = 0; i < n; i++)
					CHECK_INT(in[(r * n + i) * step], value(r, me, i));
		}
	}
}

/* Rank a sends (a + 2 b) % 4 elements to b; in place: (a + b) % 4. */
static void alltoallv(MPI_Datatype gap)
{
	int out[MAXN * 8], in[MAXN * 8], sc[MAXN], sd[MAXN], rc[MAXN], rd[MAXN];
	MPI_Datatype st[MAXN], rt[MAXN];
	for (int in_place = 0; in_place < 2; in_place++) {
		for (int w = 0; w < 2; w++) {
			for (int i = 0; i < MAXN * 8; i++)
				in[i] = out[i] = GUARD;
			for (int r = 0; r < np; r++) {
				int strided = w && !in_place && (me + r) % 2, s = strided ? 2 : 1;
				sc[r] = in_place ? (me + r) % 4 : (me + 2 * r) % 4;
				rc[r] = in_place ? (me + r) % 4 : (r + 2 * me) % 4;
				sd[r] = (np - 1 - r) * 8;
				rd[r] = r * 8;
				st[r] = MPI_INT;
				rt[r] = strided ? gap : MPI_INT;
				for (int i = 0; i < sc[r]; i++)
					out[sd[r] + i] = value(me, r, i);
				for (int i = 0; i < rc[r] && in_place; i++)
					in[rd[r] + i * s] = value(me, r, i);
				if (w) {
					sd[r] *= (int)sizeof(int);
					rd[r] *= (int)sizeof(int);
				}
			}
			void *sendbuf = in_place ? MPI_IN_PLACE : (void *)out;
			if (w)
				MPI_Alltoallw(sendbuf, sc, sd, st, in, rc, rd, rt, comm);
			else
				MPI_Alltoallv(sendbuf, sc, sd, MPI_INT, in, rc, rd, MPI_INT, comm);
			for (int r = 0; r < np; r++) {
				int s = w && !in_place && (me + r) % 2 ? 2 : 1;
				for (int i = 0; i < rc[r]; i++)
					CHECK_INT(in[r * 8 + i * s], value(r, me, i));
				CHECK_INT(in[r * 8 + 7], GUARD);
			}
		}
	}
}

/* Each pair has a datatype of its own. */
static void alltoallw_in_place(int turn)
{
	enum { ROOM = 40 };
	int in[MAXN * ROOM], count[MAXN], displ[MAXN];
	MPI_Datatype two, type[MAXN];
	MPI_Type_contiguous(2, MPI_INT, &two);
	MPI_Type_commit(&two);
	for (int i = 0; i < MAXN * ROOM; i++)
		in[i] = GUARD;
	for (int r = 0; r < np; r++) {
		int each = 1 + (me + r + turn) % 2;
		count[r] = 6 * (1 + (me * r + turn) % 3);
		displ[r] = r * ROOM * (int)sizeof(int);
		type[r] = each == 2 ? two : MPI_INT;
		for (int i = 0; i < count[r] * each; i++)
			in[r * ROOM + i] = value(me, r, i);
	}
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, count, displ, type, comm);
	for (int r = 0; r < np; r++) {
		for (int i = 0; i < count[r] * (1 + (me + r + turn) % 2); i++)
			CHECK_INT(in[r * ROOM + i], value(r, me, i));
		CHECK_INT(in[r * ROOM + ROOM - 1], GUARD);
	}
	MPI_Type_free(&two);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	make_comms();
	MPI_Datatype gap = gappy();
	for (int i = 0; i < COMMS; i++) {
		if (!use_comm(i))
			continue;
		int before = errors;
		barrier();
		bcast(gap);
		gather_scatter(gap);
		vectors(gap, 1);
		vectors(gap, i == 0 ? 30000 : 3000); /* more than fits a board */
		allgather(gap);
		alltoall(gap);
		alltoallv(gap);
		for (int turn = 0; turn < 6; turn++)
			alltoallw_in_place(turn);
		printf("rank %d: %s: %d of %d, %d errors\n", rank, comm_names[i], me, np, errors - before);
	}
	MPI_Type_free(&gap);
	free_comms();
	return end();
}
