/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on windows with requests: waited for, tested, together with requests of messages, and completed by the
 * unlock. twin: one_sided=yes
 */
#include "../check.h"

#define N 1024
static int *memory;
static MPI_Win win;

static void wait_by(int how, MPI_Request *r)
{
	int flag = 0;

	if (how == 0)
		MPI_Wait(r, MPI_STATUS_IGNORE);
	while (how && !flag)
		MPI_Test(r, &flag, MPI_STATUS_IGNORE);
	CHECK(*r == MPI_REQUEST_NULL, "the request stays");
}

/* The origin's memory is free when the request is complete; the target's is written after the flush. n ints a slot. */
static void each(int n, int how)
{
	int *out = malloc(sizeof(int) * N), *in = malloc(sizeof(int) * N);
	MPI_Request r;

	for (int i = 0; i < N; i++)
		memory[i] = -1;
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, win);
	for (int to = 0; to < size; to++) {
		for (int i = 0; i < n; i++)
			out[i] = 1000 * to + 10 * rank + i;
		MPI_Rput(out, n, MPI_INT, to, rank * n, n, MPI_INT, win, &r);
		wait_by(how, &r);
		memset(out, 0xff, sizeof(int) * N);
	}
	MPI_Win_flush_all(win);
	MPI_Barrier(WORLD);
	for (int from = 0; from < size; from++) {
		memset(in, 0xff, sizeof(int) * N);
		MPI_Rget(in, n, MPI_INT, from, (rank + 1) % size * n, n, MPI_INT, win, &r);
		wait_by(how, &r);
		for (int i = 0; i < n; i++)
			CHECK_INT(in[i], 1000 * from + 10 * ((rank + 1) % size) + i);
	}
	MPI_Barrier(WORLD);
	for (int to = 0; to < size; to++) {
		for (int i = 0; i < n; i++)
			out[i] = i;
		MPI_Raccumulate(out, n, MPI_INT, to, rank * n, n, MPI_INT, MPI_SUM, win, &r);
		wait_by(how, &r);
		memset(out, 0xff, sizeof(int) * N);
	}
	for (int to = 0; to < size; to++) {
		for (int i = 0; i < n; i++)
			out[i] = i;
		MPI_Rget_accumulate(out, n, MPI_INT, in, n, MPI_INT, to, rank * n, n, MPI_INT, MPI_SUM, win, &r);
		wait_by(how, &r);
		for (int i = 0; i < n; i++)
			CHECK_INT(in[i], 1000 * to + 10 * rank + 2 * i);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	for (int from = 0; from < size; from++)
		for (int i = 0; i < n; i++)
			CHECK_INT(memory[from * n + i], 1000 * rank + 10 * from + 3 * i);
	MPI_Win_unlock(rank, win);
	MPI_Barrier(WORLD);
	free(out);
	free(in);
}

#define MIXED 64

/* Gets and puts and messages, completed by one call. */
static void mixed(int how)
{
	int in[MIXED], out[MIXED], n = 0, next = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Request r[MIXED];

	for (int i = 0; i < N; i++)
		memory[i] = 100 * rank + i;
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 8; i++) {
		out[i] = 7 * rank + i;
		in[i] = in[8 + i] = -1;
		MPI_Irecv(&in[i], 1, MPI_INT, left, i, WORLD, &r[n++]);
		MPI_Rget(&in[8 + i], 1, MPI_INT, (rank + i) % size, i, 1, MPI_INT, win, &r[n++]);
		MPI_Isend(&out[i], 1, MPI_INT, next, i, WORLD, &r[n++]);
		MPI_Rput(&out[i], 1, MPI_INT, (rank + i) % size, 100 + 8 * rank + i, 1, MPI_INT, win, &r[n++]);
	}
	r[n++] = MPI_REQUEST_NULL;
	if (how == 0) {
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	} else if (how == 1) {
		for (int flag = 0; !flag;)
			MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE);
	} else {
		int done = 0, which[MIXED], some, one;
		while (done < n - 1 && how == 2) {
			MPI_Waitsome(n, r, &some, which, MPI_STATUSES_IGNORE);
			done += some;
		}
		for (; done < n - 1; done++)
			MPI_Waitany(n, r, &one, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 8; i++) {
		CHECK_INT(in[i], 7 * left + i);
		CHECK_INT(in[8 + i], 100 * ((rank + i) % size) + i);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	for (int from = 0; from < size; from++)
		for (int i = 0; i < 8; i++)
			if ((from + i) % size == rank)
				CHECK_INT(memory[100 + 8 * from + i], 7 * from + i);
	MPI_Win_unlock(rank, win);
	MPI_Barrier(WORLD);
}

/* To MPI_PROC_NULL, without data, and after others that the target must have seen. */
static void special(void)
{
	int out = 4321 + rank, next = (rank + 1) % size, left = (rank + size - 1) % size, in = -1, flag = 0;
	MPI_Request r;

	memory[0] = memory[1] = -1;
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Rput(&out, 1, MPI_INT, next, 0, 1, MPI_INT, win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Raccumulate(&out, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_REPLACE, win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush(next, win);
	MPI_Rget(&in, 1, MPI_INT, next, 0, 1, MPI_INT, win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK_INT(in, out);
	MPI_Rput(&out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &r);
	MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	CHECK_INT(flag, 1);
	MPI_Rget(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK_INT(in, out);
	MPI_Rget(&in, 0, MPI_INT, next, 0, 0, MPI_INT, win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	CHECK_INT(memory[0], 4321 + left);
	CHECK_INT(memory[1], 4321 + left);
	MPI_Win_unlock(rank, win);
	MPI_Barrier(WORLD);
}

/* The request completes, or the unlock does it: whichever comes first. */
static void unlocked_first(void)
{
	int in[4] = {-1, -1, -1, -1}, flag = 0;
	MPI_Request r[4];

	for (int i = 0; i < 4; i++)
		memory[i] = 10 * rank + i;
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
	for (int i = 0; i < 4; i++)
		MPI_Rget(&in[i], 1, MPI_INT, (rank + 1) % size, i, 1, MPI_INT, win, &r[i]);
	MPI_Win_unlock((rank + 1) % size, win);
	for (int i = 0; i < 4; i++)
		CHECK_INT(in[i], 10 * ((rank + 1) % size) + i);
	MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE);
	if (!flag)
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	MPI_Barrier(WORLD);
}

/* A hundred at once, of a size for which there is a rendezvous. */
static void many(void)
{
	enum { COUNT = 100, INTS = 16384 };
	static int in[INTS];
	static MPI_Request r[COUNT];
	int *wide, next = (rank + 1) % size, small[COUNT];
	MPI_Win w;

	MPI_Win_allocate(INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &wide, &w);
	for (int i = 0; i < INTS; i++)
		wide[i] = rank + i;
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, w);
	for (int i = 0; i < COUNT; i++)
		if (i == COUNT / 2)
			MPI_Rget(in, INTS, MPI_INT, next, 0, INTS, MPI_INT, w, &r[i]);
		else
			MPI_Rget(&small[i], 1, MPI_INT, (rank + i) % size, i, 1, MPI_INT, w, &r[i]);
	MPI_Waitall(COUNT, r, MPI_STATUSES_IGNORE);
	MPI_Win_unlock_all(w);
	for (int i = 0; i < COUNT; i++)
		if (i != COUNT / 2)
			CHECK_INT(small[i], (rank + i) % size + i);
	for (int i = 0; i < INTS; i += 100)
		CHECK_INT(in[i], next + i);
	MPI_Win_free(&w);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &memory, &win);
	for (int how = 0; how < 2; how++) {
		each(1, how);
		each(N / size, how);
	}
	for (int how = 0; how < 4; how++)
		mixed(how);
	special();
	unlocked_first();
	many();
	MPI_Win_free(&win);
	return end();
}
