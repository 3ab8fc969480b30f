/* SPDX-License-Identifier: BSD-3-Clause */
/* Waitany, Waitsome, Testany, Testsome, Testall, Request_get_status over lists that mix local, bridged and null
 * requests. */
#include "../check.h"

#define PER 6
#define MAXN 64

static int in[MAXN], out[MAXN];
static MPI_Request r[MAXN];
static MPI_Status st[MAXN];
static int indices[MAXN];

/* PER receives from every other rank and the sends to them, with null requests between them. Returns the length. */
static int post(int round)
{
	int n = 0;
	for (int p = 0; p < size; p++) {
		if (p == rank) {
			r[n++] = MPI_REQUEST_NULL;
			continue;
		}
		for (int k = 0; k < PER; k++, n++)
			MPI_Irecv(&in[n], 1, MPI_INT, p, round * 100 + k, WORLD, &r[n]);
	}
	int m = 0;
	for (int p = 0; p < size; p++)
		for (int k = 0; k < PER && p != rank; k++, m++) {
			MPI_Request s;
			out[m] = rank * 10000 + p * 1000 + round * 100 + k;
			MPI_Isend(&out[m], 1, MPI_INT, p, round * 100 + k, WORLD, &s);
			MPI_Wait(&s, MPI_STATUS_IGNORE);
		}
	return n;
}
static void take(int i, const MPI_Status *s, int round, int *sum)
{
	CHECK_INT(in[i], s->MPI_SOURCE * 10000 + rank * 1000 + s->MPI_TAG);
	CHECK_INT(s->MPI_TAG / 100, round);
	CHECK(r[i] == MPI_REQUEST_NULL, "null after completion");
	*sum += in[i];
}

int main(int argc, char **argv)
{
	int flag, index, count, left;
	begin(&argc, &argv);

	for (int round = 0; round < 6; round++) {
		int n = post(round), sum = 0;
		left = (size - 1) * PER;
		while (left > 0) {
			MPI_Status s;
			switch (round) {
			case 0:
				MPI_Waitany(n, r, &index, &s);
				take(index, &s, round, &sum), left--;
				break;
			case 1:
				MPI_Testany(n, r, &index, &flag, &s);
				if (flag)
					take(index, &s, round, &sum), left--;
				break;
			case 2:
			case 3:
				if (round == 2)
					MPI_Waitsome(n, r, &count, indices, st);
				else
					MPI_Testsome(n, r, &count, indices, st);
				for (int i = 0; i < count; i++)
					take(indices[i], &st[i], round, &sum), left--;
				break;
			case 4:
				MPI_Testall(n, r, &flag, st);
				for (int i = 0; flag && i < n; i++) {
					if (st[i].MPI_SOURCE == MPI_ANY_SOURCE)
						continue; /* it was null */
					take(i, &st[i], round, &sum), left--;
				}
				break;
			case 5:
				for (int i = 0; i < n; i++) {
					if (r[i] == MPI_REQUEST_NULL)
						continue;
					MPI_Request_get_status(r[i], &flag, &s);
					if (!flag)
						continue;
					CHECK(r[i] != MPI_REQUEST_NULL, "get_status does not free");
					MPI_Test(&r[i], &flag, &st[i]);
					CHECK_INT(flag, 1);
					CHECK_INT(st[i].MPI_TAG, s.MPI_TAG);
					CHECK_INT(st[i].MPI_SOURCE, s.MPI_SOURCE);
					take(i, &st[i], round, &sum), left--;
				}
				break;
			}
		}
		printf("rank %d: round %d sum %d\n", rank, round, sum);
		/* nothing but null requests left */
		MPI_Waitany(n, r, &index, st);
		CHECK_INT(index, MPI_UNDEFINED);
		CHECK_INT(st[0].MPI_SOURCE, MPI_ANY_SOURCE);
		MPI_Testany(n, r, &index, &flag, st);
		CHECK_INT(flag, 1);
		CHECK_INT(index, MPI_UNDEFINED);
		MPI_Waitsome(n, r, &count, indices, st);
		CHECK_INT(count, MPI_UNDEFINED);
		MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE);
		CHECK_INT(flag, 1);
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
		MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
	}
	/* a freed send request: the message arrives nevertheless */
	int peer = rank ^ 1, value = rank, got = -1;
	if (peer < size) {
		MPI_Request f;
		MPI_Isend(&value, 1, MPI_INT, peer, 77, WORLD, &f);
		MPI_Request_free(&f);
		CHECK(f == MPI_REQUEST_NULL, "freed");
		MPI_Recv(&got, 1, MPI_INT, peer, 77, WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(got, peer);
	}
	peer = size - 1 - rank;
	if (peer != rank) {
		MPI_Request f;
		MPI_Isend(&value, 1, MPI_INT, peer, 78, WORLD, &f);
		MPI_Request_free(&f);
		MPI_Recv(&got, 1, MPI_INT, peer, 78, WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(got, peer);
	}
	MPI_Barrier(WORLD);
	return end();
}
