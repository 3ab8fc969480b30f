/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplications of several communicators that are under way at the same time, while a member of one of them is late;
 * also in several threads. twin: layouts=2+2,1+3,1+1+2
 */
#include "../check.h"

#include <pthread.h>
#include <unistd.h>

#define TURNS 5
#define LATE_US 30000
#define AT_ONCE 3
#define KINDS 6
#define THREADS 4
#ifndef LEVEL
#define LEVEL MPI_THREAD_MULTIPLE
#endif

static MPI_Comm whole, three, two, last; /* ranks 0 to 2; 0 and 3; 1 to 3, local as 1+3 */
static MPI_Comm between;		 /* those with even ranks and those with odd ones */
static MPI_Status status[KINDS * AT_ONCE];

static void use(MPI_Comm *c)
{
	int me, n, inter, sum;
	MPI_Comm_rank(*c, &me);
	MPI_Comm_test_inter(*c, &inter);
	inter ? MPI_Comm_remote_size(*c, &n) : MPI_Comm_size(*c, &n);
	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, *c);
	CHECK_INT(sum, n * (n - 1) / 2);
	MPI_Comm_free(c);
}

static void at_once(void)
{
	MPI_Comm of[KINDS] = {three, two, between, last, WORLD, whole}, made[KINDS * AT_ONCE];
	MPI_Request r[KINDS * AT_ONCE];
	for (int turn = 0; turn < TURNS; turn++) {
		int n = 0;
		if (rank == 1)
			usleep(LATE_US);
		for (int i = 0; i < KINDS * AT_ONCE; i++)
			if (of[i % KINDS] != MPI_COMM_NULL) {
				MPI_Comm_idup(of[i % KINDS], &made[n], &r[n]);
				n++;
			}
		MPI_Waitall(n, r, status);
		for (int i = 0; i < n; i++)
			use(&made[i]);
	}
}

static void *duplicate(void *arg)
{
	MPI_Comm of = *(MPI_Comm *)arg, made[AT_ONCE];
	MPI_Request r[AT_ONCE];
	MPI_Status got[AT_ONCE];
	for (int turn = 0; turn < TURNS && of != MPI_COMM_NULL; turn++) {
		if (rank == 1)
			usleep(LATE_US);
		for (int i = 0; i < AT_ONCE; i++)
			MPI_Comm_idup(of, &made[i], &r[i]);
		MPI_Waitall(AT_ONCE, r, got);
		for (int i = 0; i < AT_ONCE; i++)
			use(&made[i]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t other[THREADS];
	MPI_Comm *of[THREADS] = {&three, &between, &last, &whole};
	MPI_Comm half;
	MPI_Init_thread(&argc, &argv, LEVEL, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	MPI_Comm_dup(WORLD, &whole);
	MPI_Comm_split(WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &three);
	MPI_Comm_split(WORLD, rank % 3 == 0 ? 0 : MPI_UNDEFINED, rank, &two);
	MPI_Comm_split(WORLD, rank > 0 ? 0 : MPI_UNDEFINED, rank, &last);
	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 1, &between);
	MPI_Comm_free(&half);
	at_once();
	if (LEVEL == MPI_THREAD_MULTIPLE && provided == LEVEL) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&other[i], NULL, duplicate, of[i]);
		duplicate(&two);
		for (int i = 0; i < THREADS; i++)
			pthread_join(other[i], NULL);
	}
	if (three != MPI_COMM_NULL)
		MPI_Comm_free(&three);
	if (two != MPI_COMM_NULL)
		MPI_Comm_free(&two);
	if (last != MPI_COMM_NULL)
		MPI_Comm_free(&last);
	MPI_Comm_free(&between);
	MPI_Comm_free(&whole);
	return end();
}
