/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small messages to a rank that does not receive for a while: more than windows and queues hold, so that they are
 * refused and sent again; meanwhile the others go on talking to each other. Then everything comes, in order.
 */
#define _GNU_SOURCE
#include "../check.h"

#include <unistd.h>

#define N 3000
#define LEN 700 /* with N and three senders: 6 MiB */
#define ROUNDS 50

struct message {
	int from, number;
	unsigned char data[LEN - 8];
};

static struct message out[N];
static MPI_Request request[N];

static void send_flood(int to, int how)
{
	for (int i = 0; i < N; i++) {
		out[i].from = rank;
		out[i].number = i;
		fill(out[i].data, sizeof out[i].data, (uint32_t)(rank * N + i));
		if (how == 0)
			MPI_Send(&out[i], LEN, MPI_BYTE, to, i % 7, WORLD);
		else
			MPI_Isend(&out[i], LEN, MPI_BYTE, to, i % 7, WORLD, &request[i]);
	}
}

static void receive_flood(void)
{
	static struct message in;
	int next[64] = {0};

	for (int i = 0; i < N * (size - 1); i++) {
		MPI_Status st;
		MPI_Recv(&in, LEN, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &st);
		CHECK_INT(st.MPI_SOURCE, in.from);
		CHECK_INT(st.MPI_TAG, in.number % 7);
		CHECK_INT(in.number, next[st.MPI_SOURCE]);
		CHECK(filled(in.data, sizeof in.data, (uint32_t)(in.from * N + in.number)), "message %d from %d",
			in.number, in.from);
		next[st.MPI_SOURCE] = in.number + 1;
	}
}

/* The others, in a ring without the slow one. */
static void talk(MPI_Comm others)
{
	int me, n, got = -1;

	MPI_Comm_rank(others, &me);
	MPI_Comm_size(others, &n);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Sendrecv(&i, 1, MPI_INT, (me + 1) % n, 3, &got, 1, MPI_INT, (me + n - 1) % n, 3, others,
			MPI_STATUS_IGNORE);
		CHECK_INT(got, i);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm others;

	begin(&argc, &argv);
	for (int slow = 0; slow < size; slow += size - 1 ? size - 1 : 1) {
		MPI_Comm_split(WORLD, rank == slow ? MPI_UNDEFINED : 0, rank, &others);
		for (int how = 0; how < 2; how++) {
			if (rank == slow) {
				usleep(150000);
				receive_flood();
			} else {
				send_flood(slow, how);
				talk(others);
				if (how == 1)
					MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
			}
			MPI_Barrier(WORLD);
		}
		if (others != MPI_COMM_NULL)
			MPI_Comm_free(&others);
	}
	return end();
}
