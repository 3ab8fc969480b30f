/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication around a ring and between halves: many sizes and numbers of partitions, made ready in any
 * order and by several threads, received as they come, several requests of one tag, requests that are freed unused.
 * twin: layouts=2+2,1+1+2 tcp=yes endpoints=3 external32=yes */
#include <pthread.h>

#include "../check.h"

#define CYCLES 4
#define PARTS 12
#define LARGE 40000 /* ints of a partition */

static int next, prev;

static int value(int from, int cycle, int i)
{
	return from * 1000003 + cycle * 10007 + i;
}

/* Partitions of len ints, made ready from behind, some by list. */
static void ring(int partitions, int len)
{
	int *out = malloc(sizeof(int) * (size_t)(partitions * len + 1)),
	    *in = malloc(sizeof(int) * (size_t)(partitions * len + 1));
	MPI_Request r[2];
	MPI_Status st;
	MPI_Precv_init(in, partitions, len, MPI_INT, prev, 5, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Psend_init(out, partitions, len, MPI_INT, next, 5, WORLD, MPI_INFO_NULL, &r[1]);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		int order[PARTS], n = 0, flag = 0, got;
		memset(in, -1, sizeof(int) * (size_t)(partitions * len));
		if (cycle % 2)
			MPI_Startall(2, r);
		else
			MPI_Start(&r[1]), MPI_Start(&r[0]);
		for (int i = 0; i < partitions * len; i++)
			out[i] = value(rank, cycle, i);
		MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
		CHECK_INT(flag, 0);
		for (int p = partitions - 1; p >= partitions / 2; p--)
			MPI_Pready(p, r[1]);
		for (int p = 0; p < partitions / 4; p++)
			order[n++] = p;
		if (n > 0)
			MPI_Pready_list(n, order, r[1]);
		if (partitions / 2 > n)
			MPI_Pready_range(n, partitions / 2 - 1, r[1]);
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		MPI_Wait(&r[0], &st);
		MPI_Get_count(&st, MPI_INT, &got);
		CHECK_INT(got, partitions * len);
		CHECK_INT(st.MPI_SOURCE, prev);
		CHECK_INT(st.MPI_TAG, 5);
		for (int i = 0; i < partitions * len; i++)
			CHECK_INT(in[i], value(prev, cycle, i));
	}
	CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL, "they stay");
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	free(out);
	free(in);
}

/* One that is not ready keeps the sender, and the others are there before it, natively sooner or later. */
static void overlap(void)
{
	static int out[PARTS][LARGE], in[PARTS][LARGE];
	MPI_Request r[2];
	int flag = 0;
	MPI_Psend_init(out, PARTS, LARGE, MPI_INT, next, 6, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, PARTS, LARGE, MPI_INT, prev, 6, WORLD, MPI_INFO_NULL, &r[1]);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		MPI_Startall(2, r);
		for (int p = 0; p < PARTS; p++) {
			for (int i = 0; i < LARGE; i++)
				out[p][i] = value(rank, cycle, p * LARGE + i);
			MPI_Pready(p, r[0]);
		}
		for (int p = PARTS - 1; p >= 0; p--) {
			do
				MPI_Parrived(r[1], p, &flag);
			while (!flag);
			for (int i = 0; i < LARGE; i += 97)
				CHECK_INT(in[p][i], value(prev, cycle, p * LARGE + i));
		}
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

/* Two of one tag: the first ones meet, whichever is started first; and a third pair that no rank starts. */
static void same_tag(void)
{
	int out[3][8], in[3][8];
	MPI_Request s[3], r[3];
	for (int k = 0; k < 3; k++)
		MPI_Precv_init(in[k], 4, 2, MPI_INT, prev, 7, WORLD, MPI_INFO_NULL, &r[k]);
	MPI_Request_free(&r[0]);
	for (int k = 0; k < 3; k++)
		MPI_Psend_init(out[k], 4, 2, MPI_INT, next, 7, WORLD, MPI_INFO_NULL, &s[k]);
	MPI_Request_free(&s[0]);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int k = 1; k < 3; k++)
			for (int i = 0; i < 8; i++)
				out[k][i] = value(rank, cycle, 100 * k + i);
		MPI_Start(&s[2]), MPI_Start(&r[1]);
		MPI_Pready_range(0, 3, s[2]);
		MPI_Start(&s[1]), MPI_Start(&r[2]);
		MPI_Pready_range(0, 3, s[1]);
		MPI_Waitall(2, &s[1], MPI_STATUSES_IGNORE);
		MPI_Waitall(2, &r[1], MPI_STATUSES_IGNORE);
		for (int k = 1; k < 3; k++)
			for (int i = 0; i < 8; i++)
				CHECK_INT(in[k][i], value(prev, cycle, 100 * k + i));
	}
	for (int k = 1; k < 3; k++)
		MPI_Request_free(&s[k]), MPI_Request_free(&r[k]);
}

/* Beside ordinary messages of the same tag, which it is nothing to. */
static void beside(void)
{
	int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {0}, word = 100 + rank, got = 0;
	MPI_Request r[2];
	MPI_Status st;
	MPI_Psend_init(out, 2, 2, MPI_INT, next, 8, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, 2, 2, MPI_INT, prev, 8, WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Startall(2, r);
	MPI_Pready_range(0, 1, r[0]);
	MPI_Send(&word, 1, MPI_INT, next, 8, WORLD);
	MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &st);
	CHECK_INT(got, 100 + prev);
	CHECK_INT(st.MPI_TAG, 8);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 4; i++)
		CHECK_INT(in[i], prev + i);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

/* With gaps, as columns, and with a type that the program frees at once. */
static void columns(void)
{
	static int out[16][16], in[16][16];
	MPI_Datatype column, one;
	MPI_Request r[2];
	MPI_Type_vector(16, 1, 16, MPI_INT, &column);
	MPI_Type_create_resized(column, 0, sizeof(int), &one);
	MPI_Type_commit(&one);
	MPI_Psend_init(out, 4, 4, one, next, 9, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, 4, 4, one, prev, 9, WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Type_free(&one);
	MPI_Type_free(&column);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int i = 0; i < 256; i++)
			out[i / 16][i % 16] = value(rank, cycle, i), in[i / 16][i % 16] = 0;
		MPI_Startall(2, r);
		for (int p = 3; p >= 0; p--)
			MPI_Pready(p, r[0]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 256; i++)
			CHECK_INT(in[i / 16][i % 16], value(prev, cycle, i));
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

/* The receiver has other partitions, and other types. */
static void other_partitions(void)
{
	static int out[60], in[120];
	MPI_Datatype five, spread;
	MPI_Request r[3];
	int flag;
	MPI_Type_contiguous(5, MPI_INT, &five);
	MPI_Type_commit(&five);
	MPI_Type_create_resized(five, 0, 10 * sizeof(int), &spread);
	MPI_Type_commit(&spread);
	MPI_Psend_init(out, 6, 10, MPI_INT, next, 10, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, 4, 3, five, prev, 10, WORLD, MPI_INFO_NULL, &r[1]);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int i = 0; i < 60; i++)
			out[i] = value(rank, cycle, i);
		MPI_Startall(2, r);
		MPI_Pready_range(0, 5, r[0]);
		do
			MPI_Parrived(r[1], 1, &flag);
		while (!flag);
		for (int i = 15; i < 30; i++)
			CHECK_INT(in[i], value(prev, cycle, i));
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 60; i++)
			CHECK_INT(in[i], value(prev, cycle, i));
	}
	MPI_Request_free(&r[1]);
	MPI_Request_free(&r[0]);
	memset(in, 0, sizeof(in));
	MPI_Psend_init(out, 15, 4, MPI_INT, next, 11, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, 2, 6, spread, prev, 11, WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Startall(2, r);
	MPI_Pready_range(0, 14, r[0]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 60; i++)
		CHECK_INT(in[i / 5 * 10 + i % 5], value(prev, CYCLES - 1, i));
	for (int i = 0; i < 120; i++)
		if (i % 10 >= 5)
			CHECK_INT(in[i], 0);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	MPI_Type_free(&five);
	MPI_Type_free(&spread);
}

/* Of no elements any type will do. */
static void nothing(void)
{
	MPI_Request r[2];
	MPI_Psend_init(NULL, 3, 0, MPI_DATATYPE_NULL, next, 13, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(NULL, 2, 0, MPI_DATATYPE_NULL, prev, 13, WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Startall(2, r);
	MPI_Pready_range(0, 2, r[0]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

/* A partition that is ready later has not arrived, even if it is empty. */
static void not_yet(void)
{
	int flag;
	MPI_Request r[2];
	MPI_Psend_init(NULL, 4, 0, MPI_INT, next, 14, WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(NULL, 4, 0, MPI_INT, prev, 14, WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Startall(2, r);
	for (int i = 0; i < 200; i++) { /* until both ends know of each other */
		MPI_Parrived(r[1], 3, &flag);
		CHECK_INT(flag, 0);
	}
	MPI_Barrier(WORLD);
	MPI_Parrived(r[1], 3, &flag);
	CHECK_INT(flag, 0);
	MPI_Barrier(WORLD);
	MPI_Pready_range(0, 3, r[0]);
	while (!flag)
		MPI_Parrived(r[1], 3, &flag);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

static MPI_Request shared;

static void *make_ready(void *arg)
{
	int first = *(int *)arg;
	for (int p = first; p < PARTS; p += 3)
		MPI_Pready(p, shared);
	return NULL;
}

static void by_threads(void)
{
	static int out[PARTS * 50], in[PARTS * 50], first[3] = {0, 1, 2};
	MPI_Request r;
	pthread_t id[3];
	MPI_Psend_init(out, PARTS, 50, MPI_INT, next, 12, WORLD, MPI_INFO_NULL, &shared);
	MPI_Precv_init(in, PARTS, 50, MPI_INT, prev, 12, WORLD, MPI_INFO_NULL, &r);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int i = 0; i < PARTS * 50; i++)
			out[i] = value(rank, cycle, i);
		MPI_Start(&r);
		MPI_Start(&shared);
		for (int t = 0; t < 3; t++)
			pthread_create(&id[t], NULL, make_ready, &first[t]);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		for (int t = 0; t < 3; t++)
			pthread_join(id[t], NULL);
		MPI_Wait(&shared, MPI_STATUS_IGNORE);
		for (int i = 0; i < PARTS * 50; i++)
			CHECK_INT(in[i], value(prev, cycle, i));
	}
	MPI_Request_free(&r);
	MPI_Request_free(&shared);
}

int main(int argc, char **argv)
{
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	next = (rank + 1) % size;
	prev = (rank + size - 1) % size;
	ring(1, 1);
	ring(2, 300);
	ring(PARTS, 7);
	ring(5, 0);
	ring(3, LARGE);
	overlap();
	same_tag();
	beside();
	columns();
	other_partitions();
	nothing();
	not_yet();
	if (provided == MPI_THREAD_MULTIPLE)
		by_threads();
	printf("rank %d of %d: partitioned\n", rank, size);
	return end();
}
