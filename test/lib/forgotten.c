/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose ranks end without MPI_Finalize, as the first argument says; a second one is the exit status of
 * those ranks. For forgotten.t. Rank 0 ends in any case; the others do as the mode says.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
#define LARGE (4 << 20)
static int rank, size, status, finalizes, speaks;
static char large[LARGE];

/* Neither runs in a rank that is ended because another one has died. */
static void at_exit(void)
{
	int over = 1;
	if (finalizes)
		MPI_Finalize();
	MPI_Finalized(&over);
	if (speaks)
		dprintf(STDOUT_FILENO, "rank %d: atexit, finalized %d\n", rank, over);
}
static __attribute__((destructor)) void destructor(void)
{
	if (speaks)
		dprintf(STDOUT_FILENO, "rank %d: destructor\n", rank);
}

static void wait_for(int other)
{
	int x;
	MPI_Recv(&x, 1, MPI_INT, other, 99, WORLD, MPI_STATUS_IGNORE);
}
static void *exit_in_thread(void *unused)
{
	(void)unused;
	exit(status);
}
static void in_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, exit_in_thread, NULL);
	pthread_join(thread, NULL);
}
static void on_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	exit(status);
}
static void on_signal(int number)
{
	(void)number;
	exit(status);
}
static int on_delete(MPI_Comm comm, int keyval, void *value, void *state)
{
	(void)comm, (void)keyval, (void)value, (void)state;
	printf("rank %d: wrong: an attribute is deleted\n", rank);
	return MPI_SUCCESS;
}

/* --- what the ranks do; they return from main afterwards --- */

static void all(void)
{
	printf("rank %d ends\n", rank);
}
/* Buffered output has to reach the reader, also of a rank that is late. */
static void late(void)
{
	static char buffer[1 << 16];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	usleep((unsigned)rank * 300000);
	for (int i = 0; i < 500; i++)
		printf("rank %d line %d\n", rank, i);
}
static void sent(void)
{
	MPI_Request r[2];
	int last = size - 1;
	if (rank == 0) {
		memset(large, 7, LARGE);
		MPI_Isend(large, 100, MPI_CHAR, last, 1, WORLD, &r[0]);
		MPI_Isend(large, LARGE, MPI_CHAR, last, 2, WORLD, &r[1]);
	}
	if (rank == last) {
		int good = 0;
		sleep(1);
		MPI_Recv(large, LARGE, MPI_CHAR, 0, 2, WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < LARGE; i++)
			good += large[i] == 7;
		MPI_Recv(large, 100, MPI_CHAR, 0, 1, WORLD, MPI_STATUS_IGNORE);
		printf("%d bytes have come\n", good);
	}
}
static void mixed(void)
{
	if (rank % 2)
		MPI_Finalize();
	printf("rank %d ends\n", rank);
}
static void barrier(void)
{
	if (rank)
		MPI_Barrier(WORLD);
}
static void near(void) /* it is waited for in its own cluster alone */
{
	if (rank == 1)
		wait_for(0);
}
static void far(void)
{
	if (rank == size - 1)
		wait_for(0);
}
static void polls(void)
{
	MPI_Request r;
	int x, flag = 0;
	if (rank == 0)
		return;
	for (MPI_Irecv(&x, 1, MPI_INT, 0, 99, WORLD, &r); !flag;)
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}
static void large_send(void)
{
	if (rank == size - 1)
		MPI_Send(large, LARGE, MPI_CHAR, 0, 1, WORLD);
}
/* Rank 2 computes for longer than ranks may wait in vain, and rank 1 waits for it. */
static void computes(void)
{
	int x = 0;
	if (rank == 2) {
		sleep(6);
		MPI_Send(&x, 1, MPI_INT, 1, 99, WORLD);
	}
	if (rank == 1)
		wait_for(2);
	printf("rank %d ends\n", rank);
}
static void by_exit(void)
{
	if (rank == 0)
		_exit(status);
	MPI_Barrier(WORLD);
}
static void thread(void)
{
	if (rank == 0)
		in_thread();
}
static void thread_waits(void)
{
	if (rank == 0)
		in_thread();
	MPI_Barrier(WORLD);
}
static void handler(void)
{
	MPI_Errhandler h;
	MPI_Comm_create_errhandler(on_error, &h);
	MPI_Comm_set_errhandler(WORLD, h);
	if (rank == 0)
		MPI_Send(&rank, 1, MPI_INT, size, 0, WORLD);
}
/* Interrupted in a wait of the library, where no rank can speak. */
static void interrupted(void)
{
	if (rank == 0) {
		signal(SIGALRM, on_signal);
		alarm(1);
	}
	MPI_Barrier(WORLD);
	if (rank == 0)
		wait_for(1);
	MPI_Barrier(WORLD);
}
static void forks(void)
{
	if (rank == 0) {
		pid_t child = fork();
		if (child == 0)
			exit(7);
		waitpid(child, NULL, 0);
	}
	MPI_Barrier(WORLD);
	MPI_Finalize();
	printf("rank %d ends\n", rank);
}
static void attribute(void)
{
	int keyval;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	printf("rank %d ends\n", rank);
}
static void late_finalize(void)
{
	finalizes = 1;
}
static void dies(void)
{
	if (rank == 0)
		raise(SIGKILL);
	MPI_Barrier(WORLD);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"all", all},
	{"late", late},
	{"sent", sent},
	{"mixed", mixed},
	{"barrier", barrier},
	{"near", near},
	{"far", far},
	{"polls", polls},
	{"large", large_send},
	{"computes", computes},
	{"_exit", by_exit},
	{"thread", thread},
	{"thread_waits", thread_waits},
	{"handler", handler},
	{"interrupted", interrupted},
	{"forks", forks},
	{"attribute", attribute},
	{"atexit", late_finalize},
	{"dies", dies},
};

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int provided;
	status = argc > 2 ? atoi(argv[2]) : 0;
	setvbuf(stdout, NULL, _IOLBF, 1 << 16);
	atexit(at_exit);
	MPI_Init_thread(&argc, &argv, argc > 3 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	speaks = strcmp(mode, "atexit") == 0 || strcmp(mode, "dies") == 0;
	MPI_Barrier(WORLD);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, mode) == 0)
			modes[i].run();
	return rank == 0 ? status : 0;
}
