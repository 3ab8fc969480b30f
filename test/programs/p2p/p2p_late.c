/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks send messages of mixed sizes to rank 0, which comes late and then receives them from any source: more than
 * its queues hold, large ones among them, the messages of each sender in their order. twin: one_sided=yes
 */
#include "../check.h"

#include <unistd.h>

#define EACH 400
#define LONGEST 40000
#define MAXRANKS 64

static int length_of(int number)
{
	return number % 25 == 24 ? LONGEST : number % 5 == 0 ? 9000 : 2000;
}

static void send_all(void)
{
	static char out[LONGEST + EACH];
	static MPI_Request request[EACH];

	fill(out, sizeof(out), (uint32_t)rank);
	for (int i = 0; i < EACH; i++)
		MPI_Isend(out + i, length_of(i), MPI_BYTE, 0, 0, WORLD, &request[i]);
	MPI_Waitall(EACH, request, MPI_STATUSES_IGNORE);
}

static void take_all(void)
{
	static char in[LONGEST], wanted[LONGEST + EACH];
	static int next[MAXRANKS];

	sleep(1);
	for (int k = 0; k < EACH * (size - 1); k++) {
		MPI_Status status;
		int len;
		MPI_Recv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, 0, WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &len);
		int from = status.MPI_SOURCE, number = next[from]++;
		CHECK_INT(len, length_of(number));
		fill(wanted, sizeof(wanted), (uint32_t)from);
		CHECK(memcmp(in, wanted + number, (size_t)len) == 0, "message %d of rank %d", number, from);
	}
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	if (rank == 0)
		take_all();
	else
		send_all();
	return end();
}
