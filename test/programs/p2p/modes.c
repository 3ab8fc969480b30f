/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every send mode, blocking and not, between all pairs, with sizes around the limits of eager and fragment.
 * twin: tcp=yes
 */
#include "../check.h"

static const int sizes[] = {0, 1, 7, 1000, 16384, 16385, 32768, 32769, 131072, 131073, 400001};
#define NSIZES (int)(sizeof sizes / sizeof *sizes)
#define MAX 400001

enum { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IBSEND, IRSEND, MODES };
static const char *const names[] = {"Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend"};

static void send_by(int mode, const void *buf, int n, int to, int tag)
{
	MPI_Request r = MPI_REQUEST_NULL;
	switch (mode) {
	case SEND:
		MPI_Send(buf, n, MPI_BYTE, to, tag, WORLD);
		break;
	case SSEND:
		MPI_Ssend(buf, n, MPI_BYTE, to, tag, WORLD);
		break;
	case BSEND:
		MPI_Bsend(buf, n, MPI_BYTE, to, tag, WORLD);
		break;
	case RSEND:
		MPI_Rsend(buf, n, MPI_BYTE, to, tag, WORLD);
		break;
	case ISEND:
		MPI_Isend(buf, n, MPI_BYTE, to, tag, WORLD, &r);
		break;
	case ISSEND:
		MPI_Issend(buf, n, MPI_BYTE, to, tag, WORLD, &r);
		break;
	case IBSEND:
		MPI_Ibsend(buf, n, MPI_BYTE, to, tag, WORLD, &r);
		break;
	case IRSEND:
		MPI_Irsend(buf, n, MPI_BYTE, to, tag, WORLD, &r);
		break;
	}
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	char *out = malloc(MAX), *in = malloc(MAX + 16);
	int room = 8 << 20, old; /* all that may be on the way at a time */
	void *attached = malloc(room);
	MPI_Buffer_attach(attached, room);

	for (int mode = 0; mode < MODES; mode++) {
		uint32_t sum = 0;
		for (int from = 0; from < size; from++) {
			for (int to = 0; to < size; to++) {
				if (from == to || (rank != from && rank != to))
					continue;
				/* the larger half of the sizes only between neighbours: time */
				int n = (to == from + 1 || from == to + 1) ? NSIZES : NSIZES - 4;
				for (int i = 0; i < n; i++) {
					uint32_t seed = mode * 1000 + from * 100 + to * 10 + i;
					int tag = mode * 100 + i;
					if (rank == from) {
						int go;
						fill(out, sizes[i], seed);
						/* ready mode needs the receive to be there: told by a message */
						if (mode == RSEND || mode == IRSEND)
							MPI_Recv(&go, 1, MPI_INT, to, 9999, WORLD, MPI_STATUS_IGNORE);
						send_by(mode, out, sizes[i], to, tag);
						continue;
					}
					MPI_Status st;
					MPI_Request r;
					int count, go = 1;
					memset(in, 0x55, MAX + 16);
					MPI_Irecv(in, MAX + 16, MPI_BYTE, from, tag, WORLD, &r);
					if (mode == RSEND || mode == IRSEND)
						MPI_Send(&go, 1, MPI_INT, from, 9999, WORLD);
					MPI_Wait(&r, &st);
					MPI_Get_count(&st, MPI_BYTE, &count);
					CHECK_INT(count, sizes[i]);
					CHECK_INT(st.MPI_SOURCE, from);
					CHECK_INT(st.MPI_TAG, tag);
					CHECK(filled(in, count, seed), "%s of %d bytes from %d", names[mode], count,
						from);
					CHECK(in[count] == 0x55, "byte behind the message");
					sum += digest(in, count);
				}
			}
		}
		printf("rank %d: %s %08x\n", rank, names[mode], sum);
	}
	MPI_Buffer_detach(&attached, &old);
	CHECK_INT(old, room);
	return end();
}
