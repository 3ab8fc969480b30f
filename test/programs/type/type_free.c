/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that are freed while receives and collectives still use them, with others made in the meantime, which might
 * get their numbers: the data come where they belong, and attributes are deleted, once. And such as cannot be freed.
 * twin: timeout=60 external32=yes tcp=yes
 */
#include <malloc.h>

#include "../check.h"

#define N 40

static int deleted;

static int delete_attribute(MPI_Datatype type, int key, void *value, void *extra)
{
	(void)type, (void)key, (void)extra;
	deleted += *(int *)value;
	return MPI_SUCCESS;
}

static MPI_Datatype every(int stride)
{
	MPI_Datatype type;
	MPI_Type_vector(N / stride, 1, stride, MPI_INT, &type);
	MPI_Type_commit(&type);
	return type;
}

static void show(const char *what, const int *buf)
{
	char text[N * 12 + 1] = "";
	for (int i = 0, at = 0; i < N; i++)
		at += sprintf(text + at, " %d", buf[i]);
	printf("rank %d: %s:%s\n", rank, what, text);
}

static size_t in_use(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/*
 * A receive lets go of everything it holds. Buffers and free lists grow now and then: lost memory grows in every round.
 */
static void receive_many(void)
{
	enum { MANY = 300, ROUNDS = 6 };
	int from = (rank + 1) % size, to = (rank + size - 1) % size, sent[N] = {0}, got[N];
	long least = MANY * 64L;
	MPI_Datatype type = every(2);
	for (int round = 0; round < ROUNDS; round++) {
		size_t before = in_use();
		for (int i = 0; i < MANY; i++)
			MPI_Sendrecv(sent, 1, type, to, 5, got, 1, type, from, 5, WORLD, MPI_STATUS_IGNORE);
		long more = (long)(in_use() - before);
		least = more < least ? more : least;
	}
	CHECK(least < MANY * 32L, "%ld bytes more are in use after each round", least);
	MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	static int one = 1;
	int key, from = (rank + 1) % size, to = (rank + size - 1) % size, sent[N], got[2][N], all[N];
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_attribute, &key, NULL);
	for (int round = 0; round < 20; round++) {
		MPI_Request q[3];
		MPI_Datatype type = every(2), others[8];
		for (int i = 0; i < N; i++)
			sent[i] = 1000 * rank + 10 * i + round, got[0][i] = got[1][i] = all[i] = -1;
		MPI_Type_set_attr(type, key, &one);
		MPI_Irecv(got[0], 1, type, from, 1, WORLD, &q[0]);
		MPI_Irecv(got[1], 1, type, from, 2, WORLD, &q[1]);
		if (rank == 0)
			memcpy(all, sent, sizeof all);
		MPI_Ibcast(all, 1, type, 0, WORLD, &q[2]);
		MPI_Type_free(&type);
		CHECK(type == MPI_DATATYPE_NULL, "a datatype that is freed keeps its handle");
		for (int i = 0; i < 8; i++)
			others[i] = every(4 + i % 2);
		/* nothing has been sent before all ranks are here */
		MPI_Barrier(WORLD);
		MPI_Send(sent, N / 2, MPI_INT, to, 2, WORLD);
		MPI_Send(sent, N / 2, MPI_INT, to, 1, WORLD);
		MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
		/* one that came by the same number is another one */
		MPI_Sendrecv(sent, N / 4, MPI_INT, to, 3, got[1], 1, others[0], from, 3, WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < 8; i++)
			MPI_Type_free(&others[i]);
		show("received", got[0]);
		show("received over that", got[1]);
		show("broadcast", all);
	}
	CHECK_INT(deleted, 20);
	receive_many();
	/* of no name of its own, and predefined all the same (MPI-4.0, section 19.1.5) */
	MPI_Datatype real;
	MPI_Request q;
	double x = rank + 0.5, y = 0;
	MPI_Type_create_f90_real(12, 100, &real);
	MPI_Iallreduce(&x, &y, 1, real, MPI_SUM, WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	printf("rank %d: sum of Fortran's reals: %g\n", rank, y);
	MPI_Type_free_keyval(&key);
	return end();
}
