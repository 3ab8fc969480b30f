/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a rank of the same cluster, of each kind that the library makes itself. Each kind has a phase; rank 0
 * prints its number and name. For 2+2 ranks; the odd ranks wait. The other ranks come late. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LATE_US 50000
#define LARGE (1 << 20) /* bytes; more than native MPI sends at once */

static char *out, *in;
static int other; /* the partner's rank in the communicator */

static void sendrecv(MPI_Comm comm)
{
	MPI_Sendrecv(out, 8, MPI_BYTE, other, 0, in, 8, MPI_BYTE, other, 0, comm, MPI_STATUS_IGNORE);
}

static void isendrecv(MPI_Comm comm)
{
	MPI_Request r;

	MPI_Isendrecv(out, 8, MPI_BYTE, other, 0, in, 8, MPI_BYTE, other, 0, comm, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void waitall(MPI_Comm comm)
{
	MPI_Request r[2];

	for (int i = 0; i < 2; i++)
		MPI_Isendrecv(out, 8, MPI_BYTE, other, i, in + 8 * i, 8, MPI_BYTE, other, i, comm, &r[i]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void probe(MPI_Comm comm)
{
	MPI_Request r;

	MPI_Isend(out, 8, MPI_BYTE, other, 0, comm, &r);
	MPI_Probe(other, 0, comm, MPI_STATUS_IGNORE);
	MPI_Recv(in, 8, MPI_BYTE, other, 0, comm, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* The partner's message is matched, but its bytes come only when the partner waits. */
static void mrecv(MPI_Comm comm)
{
	MPI_Message m;
	MPI_Request r;

	MPI_Isend(out, LARGE, MPI_BYTE, other, 0, comm, &r);
	MPI_Mprobe(other, 0, comm, &m, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, LARGE, MPI_BYTE, &m, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*run)(MPI_Comm);
} kinds[] = {{"MPI_Sendrecv", sendrecv}, {"MPI_Isendrecv and MPI_Wait", isendrecv},
	{"MPI_Isendrecv and MPI_Waitall", waitall}, {"MPI_Probe", probe}, {"MPI_Mprobe and MPI_Mrecv", mrecv}};

int main(int argc, char **argv)
{
	int rank, phase = 2;
	MPI_Comm local;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &local);
	out = calloc(1, LARGE);
	in = calloc(1, LARGE);
	for (int world = 0; world < 2; world++)
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++, phase++) {
			other = world ? rank ^ 1 : (rank & 1) ^ 1;
			if (rank == 0)
				printf("%d %s, %s communicator\n", phase, kinds[i].name, world ? "spanning" : "local");
			MPI_Pcontrol(phase);
			if (rank % 2 == 0)
				usleep(LATE_US);
			kinds[i].run(world ? MPI_COMM_WORLD : local);
		}
	MPI_Pcontrol(1);
	MPI_Comm_free(&local);
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
