/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that ends as its first argument says: HOW [RANK [CODE [FILE]]]. With a FILE, all ranks wait until it
 * exists. For tests of zmpirun. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Every rank waits for the next rank, which never sends: some waits are native, some cross the bridge. */
static void wait_for_ever(void)
{
	int x = 0;
	MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "well";
	int who = argc > 2 ? atoi(argv[2]) : 0, code = argc > 3 ? atoi(argv[3]) : 0, me;
	if (strcmp(how, "early") == 0 && who == atoi(getenv("PMI_RANK")))
		return code;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("rank %d of %d pid %d\n", rank, size, (int)getpid());
	fflush(stdout);
	me = rank == who;
	while (argc > 4 && access(argv[4], F_OK) != 0)
		usleep(20000);
	if (strcmp(how, "wait") == 0)
		wait_for_ever();
	if (strcmp(how, "abort") == 0 && me)
		MPI_Abort(MPI_COMM_WORLD, code);
	if (strcmp(how, "signal") == 0 && me)
		raise(code);
	if (strcmp(how, "exit") == 0 && me)
		_exit(code);
	if (strcmp(how, "abort") == 0 || strcmp(how, "signal") == 0 || strcmp(how, "exit") == 0)
		wait_for_ever();
	if (strcmp(how, "ranks") == 0)
		code = rank;
	else if (strcmp(how, "status") != 0 || !me)
		code = 0;
	MPI_Finalize();
	return code;
}
