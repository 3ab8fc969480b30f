/* SPDX-License-Identifier: BSD-3-Clause */
/* A message longer than the receive: MPI_ERR_TRUNCATE there, with nothing written behind the buffer, and life goes on.
 * twin: one_sided=yes */
#include "../check.h"

static const int sent[] = {2, 100, 20000, 300000};

/* MPICH over ch3 may find the error when the receive is started. Then there is no status. */
static int early(int rc, int from, int tag, MPI_Status *st)
{
	st->MPI_SOURCE = from;
	st->MPI_TAG = tag;
	return rc != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	char *buf = malloc(400000);
	MPI_Status st, sts[2];
	MPI_Request r[2];

	for (int from = 0; from < size; from++) {
		for (int to = 0; to < size; to++) {
			if (from == to)
				continue;
			for (int i = 0; i < 4; i++) {
				for (int how = 0; how < 4; how++) {
					if (rank == from) {
						fill(buf, sent[i], i);
						int rc = MPI_Send(buf, sent[i], MPI_BYTE, to, i, WORLD);
						CHECK_INT(rc, MPI_SUCCESS);
						MPI_Recv(NULL, 0, MPI_BYTE, to, 99, WORLD, MPI_STATUS_IGNORE);
					}
					if (rank != to)
						continue;
					int room = sent[i] / 2, rc = -1, flag;
					memset(buf, 0x11, 400000);
					switch (how) {
					case 0:
						rc = MPI_Recv(buf, room, MPI_BYTE, from, i, WORLD, &st);
						break;
					case 1:
						rc = MPI_Irecv(buf, room, MPI_BYTE, MPI_ANY_SOURCE, i, WORLD, &r[0]);
						if (early(rc, from, i, &st))
							break;
						rc = MPI_Wait(&r[0], &st);
						break;
					case 2:
						MPI_Probe(from, i, WORLD, &st);
						rc = MPI_Recv(buf, room, MPI_BYTE, from, i, WORLD, &st);
						break;
					case 3:
						rc = MPI_Irecv(buf, room, MPI_BYTE, from, i, WORLD, &r[0]);
						if (early(rc, from, i, &st))
							break;
						r[1] = MPI_REQUEST_NULL;
						rc = MPI_Waitall(2, r, sts);
						CHECK_INT(class_of(rc), MPI_ERR_IN_STATUS);
						rc = sts[0].MPI_ERROR;
						CHECK_INT(sts[1].MPI_ERROR, MPI_SUCCESS);
						st = sts[0];
						break;
					}
					CHECK_INT(class_of(rc), MPI_ERR_TRUNCATE);
					CHECK_INT(st.MPI_SOURCE, from);
					CHECK_INT(st.MPI_TAG, i);
					flag = 1;
					for (int k = room; k < room + 1000; k++)
						flag &= buf[k] == 0x11;
					CHECK(flag, "bytes behind the buffer");
					printf("rank %d: %d bytes from %d into %d, way %d: class %d\n", rank, sent[i],
						from, room, how, class_of(rc) == MPI_ERR_TRUNCATE);
					MPI_Send(NULL, 0, MPI_BYTE, from, 99, WORLD);
				}
			}
			/* and a good one afterwards */
			if (rank == from) {
				fill(buf, 300000, 7);
				MPI_Send(buf, 300000, MPI_BYTE, to, 5, WORLD);
			} else if (rank == to) {
				CHECK_INT(MPI_Recv(buf, 300000, MPI_BYTE, from, 5, WORLD, &st), MPI_SUCCESS);
				CHECK(filled(buf, 300000, 7), "contents");
			}
		}
	}
	/* wrong arguments are refused, by the communicator's handler */
	int peer = size - 1 - rank;
	CHECK_INT(class_of(MPI_Send(buf, 1, MPI_BYTE, size, 0, WORLD)), MPI_ERR_RANK);
	CHECK_INT(class_of(MPI_Send(buf, 1, MPI_BYTE, -7, 0, WORLD)), MPI_ERR_RANK);
	CHECK_INT(class_of(MPI_Send(buf, -1, MPI_BYTE, peer, 0, WORLD)), MPI_ERR_COUNT);
	CHECK_INT(class_of(MPI_Send(buf, 1, MPI_BYTE, peer, -5, WORLD)), MPI_ERR_TAG);
	CHECK_INT(class_of(MPI_Send(buf, 1, MPI_DATATYPE_NULL, peer, 0, WORLD)), MPI_ERR_TYPE);
	CHECK_INT(class_of(MPI_Recv(buf, 1, MPI_BYTE, size, 0, WORLD, &st)), MPI_ERR_RANK);
	CHECK_INT(class_of(MPI_Recv(buf, 1, MPI_BYTE, peer, -5, WORLD, &st)), MPI_ERR_TAG);
	CHECK_INT(class_of(MPI_Bcast(buf, 1, MPI_BYTE, size, WORLD)), MPI_ERR_ROOT);
	CHECK_INT(class_of(MPI_Send(buf, 1, MPI_BYTE, peer, 0, MPI_COMM_NULL)), MPI_ERR_COMM);
	return end();
}
