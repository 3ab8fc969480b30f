/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail while the application's handler takes the error and lets the program go on. MPICH 5 returns
 * MPI_SUCCESS from them, and its results are not set then. So nothing may be made of these results: no wait for a
 * request that never began, no communicator. Local and far partners, all kinds of objects.
 */
#include "../check.h"

static int taken;

static void of_comm(MPI_Comm *c, int *code, ...)
{
	(void)c, (void)code;
	taken++;
}

static void of_win(MPI_Win *w, int *code, ...)
{
	(void)w, (void)code;
	taken++;
}

static void of_file(MPI_File *f, int *code, ...)
{
	(void)f, (void)code;
	taken++;
}

/* Fills the stack where the library's variables will be. */
static void soil(void)
{
	volatile char stack[8192];

	for (size_t i = 0; i < sizeof stack; i++)
		stack[i] = 0x5a;
}

static void report(const char *what, int with, int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	printf("rank %d: %s with %d: handler called %d times, class %d\n", rank, what, with, taken, class);
	taken = 0;
	soil();
}

static void messages(MPI_Comm c, int n)
{
	int x = rank, y[2];
	MPI_Datatype raw;
	MPI_Request r;
	MPI_Status st;

	MPI_Type_contiguous(2, MPI_INT, &raw);
	for (int p = 0; p < n; p++) {
		soil();
		report("MPI_Bsend without a buffer", p, MPI_Bsend(&x, 1, MPI_INT, p, 1, c));
		report("MPI_Sendrecv, negative count", p,
			MPI_Sendrecv(&x, 1, MPI_INT, p, 2, y, -1, MPI_INT, p, 2, c, &st));
		report("MPI_Send of a raw type", p, MPI_Send(&x, 1, raw, p, 3, c));
		report("MPI_Recv of a raw type", p, MPI_Recv(y, 1, raw, p, 3, c, &st));
		report("MPI_Isend, negative tag", p, MPI_Isend(&x, 1, MPI_INT, p, -7, c, &r));
		report("MPI_Send_init of a raw type", p, MPI_Send_init(&x, 1, raw, p, 3, c, &r));
		report("MPI_Sendrecv_replace of a raw type", p, MPI_Sendrecv_replace(&x, 1, raw, p, 3, p, 3, c, &st));
	}
	report("MPI_Probe", n, MPI_Probe(n, 1, c, &st));
	report("MPI_Recv", n, MPI_Recv(y, 1, MPI_INT, n, 1, c, &st));
	MPI_Type_free(&raw);
}

static void collectives(MPI_Comm c, int n)
{
	int x = rank, y[8];
	MPI_Request r;
	MPI_Comm made = MPI_COMM_NULL;

	soil();
	report("MPI_Bcast, wrong root", n, MPI_Bcast(&x, 1, MPI_INT, n, c));
	report("MPI_Allreduce without an operation", n, MPI_Allreduce(&x, y, 1, MPI_INT, MPI_OP_NULL, c));
	report("MPI_Ibcast, wrong root", n, MPI_Ibcast(&x, 1, MPI_INT, n, c, &r));
	report("MPI_Comm_create without a group", n, MPI_Comm_create(c, MPI_GROUP_NULL, &made));
	report("MPI_Comm_split, wrong color", n, MPI_Comm_split(c, -77, 0, &made));
	if (made != MPI_COMM_NULL && taken == 0)
		MPI_Comm_free(&made);
}

static void others(void)
{
	int x = rank;
	MPI_Errhandler h;
	MPI_Win w;
	MPI_File f;
	MPI_Group g;

	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, WORLD, &w);
	MPI_Win_create_errhandler(of_win, &h);
	MPI_Win_set_errhandler(w, h);
	MPI_Errhandler_free(&h);
	MPI_Win_fence(0, w);
	soil();
	report("MPI_Put, wrong rank", size, MPI_Put(&x, 1, MPI_INT, size, 0, 1, MPI_INT, w));
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
	MPI_File_create_errhandler(of_file, &h);
	MPI_File_set_errhandler(MPI_FILE_NULL, h);
	MPI_Errhandler_free(&h);
	soil();
	report("MPI_File_open of nothing", size,
		MPI_File_open(WORLD, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	report("MPI_Comm_group of nothing", size, MPI_Comm_group(MPI_COMM_NULL, &g));
}

int main(int argc, char **argv)
{
	MPI_Errhandler h;
	MPI_Comm two;
	int sum = 0, n;

	begin(&argc, &argv);
	MPI_Comm_create_errhandler(of_comm, &h);
	MPI_Comm_set_errhandler(WORLD, h);
	MPI_Comm_split(WORLD, rank / 2, rank, &two); /* in one cluster, most likely */
	MPI_Comm_size(two, &n);
	messages(WORLD, size);
	messages(two, n);
	collectives(WORLD, size);
	collectives(two, n);
	others();
	MPI_Errhandler_free(&h);
	MPI_Comm_free(&two);

	/* and all of it goes on */
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(sum, size * (size - 1) / 2);
	return end();
}
