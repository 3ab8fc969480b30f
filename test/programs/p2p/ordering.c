/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of one pair do not overtake each other: short and long ones mixed, many at a time, in several communicators.
 */
#include "../check.h"

#define N 60

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	static const int lens[] = {1, 60000, 2, 0, 5000, 20000, 3, 100000};
	MPI_Comm dup;
	MPI_Comm_dup(WORLD, &dup);
	for (int step = 1; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		int *out[N], *in = malloc(sizeof(int) * 100001);
		MPI_Request r[N];
		for (int i = 0; i < N; i++) {
			int len = lens[i % 8] + 1;
			out[i] = malloc(sizeof(int) * len);
			for (int k = 0; k < len; k++)
				out[i][k] = i;
			MPI_Isend(out[i], len, MPI_INT, to, i % 3, i % 5 ? WORLD : dup, &r[i]);
		}
		for (int pass = 0; pass < 2; pass++) { /* first the messages of dup, which were sent among the others */
			int last[3] = {-1, -1, -1}, seen = 0;
			for (int i = 0; i < N; i++) {
				if ((i % 5 == 0) != (pass == 0))
					continue;
				MPI_Status st;
				int n;
				MPI_Recv(in, 100001, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, MPI_ANY_TAG,
					pass ? WORLD : dup, &st);
				MPI_Get_count(&st, MPI_INT, &n);
				CHECK_INT(in[0], i);
				CHECK_INT(n, lens[i % 8] + 1);
				CHECK_INT(in[n - 1], i);
				CHECK_INT(st.MPI_TAG, i % 3);
				CHECK(last[st.MPI_TAG] < i, "overtaken");
				last[st.MPI_TAG] = i;
				seen++;
			}
			printf("rank %d: step %d pass %d: %d messages in order\n", rank, step, pass, seen);
		}
		MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
		for (int i = 0; i < N; i++)
			free(out[i]);
		free(in);
		MPI_Barrier(WORLD);
	}
	/* the receiver comes late: hundreds of unexpected messages, and one taken from the end first */
	enum { LATE = 300 };
	int peer = size - 1 - rank, v;
	if (peer != rank) {
		MPI_Request r[LATE];
		int out[LATE];
		for (int i = 0; i < LATE; i++) {
			out[i] = i * 3;
			MPI_Isend(&out[i], 1, MPI_INT, peer, i, dup, &r[i]);
		}
		for (int i = LATE - 1; i >= 0; i--) {
			MPI_Recv(&v, 1, MPI_INT, peer, i, dup, MPI_STATUS_IGNORE);
			CHECK_INT(v, i * 3);
		}
		MPI_Waitall(LATE, r, MPI_STATUSES_IGNORE);
	}
	MPI_Comm_free(&dup);
	return end();
}
