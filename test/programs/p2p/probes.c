/* SPDX-License-Identifier: BSD-3-Clause */
/* Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv: lengths known before the buffer, matched messages taken in any order.
 * twin: endpoints=3 */
#include "../check.h"

static const int lengths[] = {0, 3, 5000, 70000};

static void probe(int from, int wild)
{
	for (int i = 0; i < 4; i++) {
		MPI_Status st, got;
		int count, flag = 0;
		if (i % 2)
			MPI_Probe(wild ? MPI_ANY_SOURCE : from, wild ? MPI_ANY_TAG : i, WORLD, &st);
		else
			while (!flag)
				MPI_Iprobe(wild ? MPI_ANY_SOURCE : from, wild ? MPI_ANY_TAG : i, WORLD, &flag, &st);
		MPI_Get_count(&st, MPI_INT, &count);
		CHECK_INT(count, lengths[i]);
		CHECK_INT(st.MPI_SOURCE, from);
		CHECK_INT(st.MPI_TAG, i);
		int *buf = malloc(sizeof(int) * (count + 1));
		MPI_Recv(buf, count, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, WORLD, &got);
		CHECK(filled(buf, sizeof(int) * count, from * 10 + i), "contents");
		CHECK_INT(got.MPI_SOURCE, from);
		printf("rank %d: probed %d from %d\n", rank, count, from);
		free(buf);
	}
}

static void mprobe(int from, int wild)
{
	MPI_Message m[4];
	MPI_Status st[4];
	int *buf[4], flag = 0;
	for (int i = 0; i < 4; i++) {
		int count;
		if (i % 2)
			MPI_Mprobe(wild ? MPI_ANY_SOURCE : from, wild ? MPI_ANY_TAG : i, WORLD, &m[i], &st[i]);
		else
			for (flag = 0; !flag;)
				MPI_Improbe(wild ? MPI_ANY_SOURCE : from, wild ? MPI_ANY_TAG : i, WORLD, &flag, &m[i],
					&st[i]);
		MPI_Get_count(&st[i], MPI_INT, &count);
		CHECK_INT(count, lengths[i]);
		CHECK_INT(st[i].MPI_SOURCE, from);
		buf[i] = malloc(sizeof(int) * (count + 1));
	}
	/* what was matched is not there any more */
	MPI_Iprobe(from, MPI_ANY_TAG, WORLD, &flag, MPI_STATUS_IGNORE);
	CHECK_INT(flag, 0);
	for (int i = 3; i >= 0; i--) { /* taken in the other order */
		MPI_Status got;
		int count;
		if (i % 2) {
			MPI_Mrecv(buf[i], lengths[i], MPI_INT, &m[i], &got);
		} else {
			MPI_Request r;
			MPI_Imrecv(buf[i], lengths[i], MPI_INT, &m[i], &r);
			MPI_Wait(&r, &got);
		}
		CHECK(m[i] == MPI_MESSAGE_NULL, "message handle is null afterwards");
		MPI_Get_count(&got, MPI_INT, &count);
		CHECK_INT(count, lengths[i]);
		CHECK_INT(got.MPI_SOURCE, from);
		CHECK_INT(got.MPI_TAG, i);
		CHECK(filled(buf[i], sizeof(int) * count, from * 10 + i), "contents");
		printf("rank %d: matched %d from %d\n", rank, count, from);
		free(buf[i]);
	}
}

int main(int argc, char **argv)
{
	int flag = 1;
	MPI_Status st;
	MPI_Message m;
	begin(&argc, &argv);

	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &st);
	CHECK_INT(flag, 0);
	MPI_Barrier(WORLD);
	for (int from = 0; from < size; from++)
		for (int to = 0; to < size; to++)
			for (int how = 0; how < 4; how++) {
				if (from != to && rank == from) {
					MPI_Request r[4];
					int *buf[4];
					for (int i = 0; i < 4; i++) {
						buf[i] = malloc(sizeof(int) * (lengths[i] + 1));
						fill(buf[i], sizeof(int) * lengths[i], from * 10 + i);
						MPI_Isend(buf[i], lengths[i], MPI_INT, to, i, WORLD, &r[i]);
					}
					MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
					for (int i = 0; i < 4; i++)
						free(buf[i]);
				}
				if (from != to && rank == to) {
					if (how < 2)
						probe(from, how % 2);
					else
						mprobe(from, how % 2);
				}
			}
	MPI_Probe(MPI_PROC_NULL, 1, WORLD, &st);
	CHECK_INT(st.MPI_SOURCE, MPI_PROC_NULL);
	CHECK_INT(st.MPI_TAG, MPI_ANY_TAG);
	MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &m, &st);
	CHECK(m == MPI_MESSAGE_NO_PROC, "no-proc message");
	MPI_Mrecv(NULL, 0, MPI_INT, &m, &st);
	CHECK_INT(st.MPI_SOURCE, MPI_PROC_NULL);
	return end();
}
