/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that communicate at the same time, each on a communicator of its own: small and large messages to and fro,
 * from anywhere, with derived datatypes, synchronous and buffered ones, waits of every kind, and other communication
 * between them. twin: timeout=100 layouts=2+2,1+1+2 tcp=yes endpoints=4
 */
#include <pthread.h>

#include "../check.h"

#define THREADS 5
#define ROUNDS 24    /* argument: more or less */
#define LARGE 150000 /* ints */
#define BURST 24

static MPI_Comm comms[THREADS], shared;
static int rounds = ROUNDS;

struct thread {
	pthread_t id;
	int number;
	unsigned long sum;
	unsigned seed;
	int wrong;
};

static unsigned next(struct thread *t)
{
	return t->seed = t->seed * 1103515245u + 12345u;
}

static void put(int *buf, int n, int from, int thread, int round)
{
	for (int i = 0; i < n; i++)
		buf[i] = from * 1000003 + thread * 10007 + round * 101 + i;
}

static void check(struct thread *t, const int *buf, int n, int from, int round)
{
	for (int i = 0; i < n; i++)
		t->wrong += buf[i] != from * 1000003 + t->number * 10007 + round * 101 + i;
	t->sum += (unsigned long)n * (unsigned long)(round + 1);
}

/* Each rank sends to all ranks, and waits in different ways. */
static void exchange(struct thread *t, int round, int n)
{
	MPI_Request r[2 * 16];
	int *in = malloc(sizeof(int) * (size_t)(n * size)), *out = malloc(sizeof(int) * (size_t)n), left, at, flag = 0;
	MPI_Status st[2 * 16];

	put(out, n, rank, t->number, round);
	for (int p = 0; p < size; p++)
		MPI_Irecv(in + p * n, n, MPI_INT, p, 2000 + round, comms[t->number], &r[p]);
	for (int p = 0; p < size; p++) {
		if (round % 3 == 0)
			MPI_Issend(out, n, MPI_INT, p, 2000 + round, comms[t->number], &r[size + p]);
		else
			MPI_Isend(out, n, MPI_INT, p, 2000 + round, comms[t->number], &r[size + p]);
	}
	switch (round % 4) {
	case 0:
		MPI_Waitall(2 * size, r, st);
		break;
	case 1:
		for (left = 2 * size; left > 0; left--)
			MPI_Waitany(2 * size, r, &at, st);
		break;
	case 2:
		while (!flag)
			MPI_Testall(2 * size, r, &flag, st);
		break;
	default:
		for (int i = 0; i < 2 * size; i++)
			MPI_Wait(&r[i], &st[i]);
	}
	for (int p = 0; p < size; p++)
		check(t, in + p * n, n, p, round);
	free(in);
	free(out);
}

/* A burst of small ones to the next, with a datatype that has gaps, from anywhere. */
static void burst(struct thread *t, int round)
{
	int out[2 * BURST], in[2 * BURST], next_rank = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Datatype gaps;
	MPI_Status st;

	MPI_Type_vector(BURST / 4, 2, 4, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	put(out, 2 * BURST, rank, t->number, round);
	for (int i = 0; i < BURST; i++)
		MPI_Send(out + i, 1, MPI_INT, next_rank, 1000 + i, comms[t->number]);
	for (int i = BURST; i-- > 0;) {
		MPI_Recv(in + i, 1, MPI_INT, round % 2 ? MPI_ANY_SOURCE : before, 1000 + i, comms[t->number], &st);
		t->wrong += st.MPI_SOURCE != before;
	}
	check(t, in, BURST, before, round);
	memset(in, 0, sizeof(in));
	MPI_Sendrecv(out, 1, gaps, next_rank, 7, in, 1, gaps, before, 7, comms[t->number], &st);
	for (int i = 0; i < BURST; i++)
		t->wrong += i % 4 < 2 && in[i] != before * 1000003 + t->number * 10007 + round * 101 + i;
	MPI_Type_free(&gaps);
}

/* Probes, and a message that is taken by its handle. */
static void probes(struct thread *t, int round)
{
	int out[8], in[8], to = (rank + round) % size, from = (rank + size - round % size) % size, n;
	MPI_Request r;
	MPI_Message m;
	MPI_Status st;

	put(out, 8, rank, t->number, round);
	MPI_Isend(out, 8, MPI_INT, to, 3, comms[t->number], &r);
	if (round % 2) {
		MPI_Probe(from, 3, comms[t->number], &st);
		MPI_Get_count(&st, MPI_INT, &n);
		MPI_Recv(in, n, MPI_INT, st.MPI_SOURCE, 3, comms[t->number], MPI_STATUS_IGNORE);
	} else {
		MPI_Mprobe(MPI_ANY_SOURCE, 3, comms[t->number], &m, &st);
		MPI_Get_count(&st, MPI_INT, &n);
		MPI_Mrecv(in, n, MPI_INT, &m, MPI_STATUS_IGNORE);
	}
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(t, in, n, from, round);
}

/* Two threads on the same communicator, whose messages must not mix, beside others on the same endpoint. */
static void on_shared(struct thread *t, int round)
{
	int out = rank * 100 + t->number, in = -1, next_rank = (rank + 1) % size, before = (rank + size - 1) % size;

	MPI_Sendrecv(&out, 1, MPI_INT, next_rank, t->number * 1000 + round, &in, 1, MPI_INT, before,
		t->number * 1000 + round, shared, MPI_STATUS_IGNORE);
	t->wrong += in != before * 100 + t->number;
}

/* Calls that need the whole library. */
static void other(struct thread *t, int round)
{
	int one = 1, all = 0;
	MPI_Comm copy;

	if (round % 10 == 5) {
		MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comms[t->number]);
		t->sum += (unsigned long)all;
	}
	if (round % 20 == 7) {
		MPI_Comm_dup(comms[t->number], &copy);
		MPI_Comm_free(&comms[t->number]);
		comms[t->number] = copy;
	}
}

static void *run(void *arg)
{
	struct thread *t = arg;

	for (int round = 0; round < rounds; round++) {
		exchange(t, round, 1 + (int)(next(t) >> 16) % 200);
		burst(t, round);
		probes(t, round);
		on_shared(t, round);
		other(t, round);
		if (round % 12 == t->number)
			exchange(t, round, LARGE);
	}
	return arg;
}

/* Requests of several endpoints in one call, by one thread. */
static unsigned long mixed(void)
{
	int in[2 * THREADS], out[2 * THREADS], next_rank = (rank + 1) % size, before = (rank + size - 1) % size, n;
	MPI_Request r[2 * THREADS], p[THREADS];
	int indices[2 * THREADS];
	MPI_Status statuses[2 * THREADS];
	unsigned long sum = 0;

	for (int i = 0; i < THREADS; i++) {
		out[i] = rank * 10 + i;
		MPI_Irecv(&in[i], 1, MPI_INT, before, 5, comms[i], &r[i]);
		MPI_Isend(&out[i], 1, MPI_INT, next_rank, 5, comms[i], &r[THREADS + i]);
	}
	for (int left = 2 * THREADS; left > 0; left -= n)
		MPI_Waitsome(2 * THREADS, r, &n, indices, statuses);
	for (int i = 0; i < THREADS; i++) {
		sum += (unsigned long)in[i];
		MPI_Recv_init(&in[i], 1, MPI_INT, before, 6, comms[i], &p[i]);
	}
	MPI_Startall(THREADS, p);
	for (int i = 0; i < THREADS; i++)
		MPI_Bsend(&out[i], 1, MPI_INT, next_rank, 6, comms[i]);
	MPI_Waitall(THREADS, p, statuses);
	for (int i = 0; i < THREADS; i++) {
		sum += (unsigned long)in[i];
		MPI_Request_free(&p[i]);
	}
	return sum;
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS];
	static char buffer[THREADS * (MPI_BSEND_OVERHEAD + 64)];
	int provided, bytes;
	void *detached;

	if (argc > 1)
		rounds = atoi(argv[1]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	CHECK_INT(provided, MPI_THREAD_MULTIPLE);
	MPI_Buffer_attach(buffer, (int)sizeof(buffer));
	MPI_Comm_dup(WORLD, &shared);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(WORLD, &comms[i]);
	unsigned long sum = mixed();
	for (int i = 0; i < THREADS; i++) {
		threads[i].number = i;
		threads[i].seed = (unsigned)i + 1;
		pthread_create(&threads[i].id, NULL, run, &threads[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		CHECK_INT(threads[i].wrong, 0);
		sum += threads[i].sum;
	}
	sum += mixed();
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Comm_free(&shared);
	MPI_Buffer_detach(&detached, &bytes);
	printf("rank %d: %lu\n", rank, sum);
	return end();
}
