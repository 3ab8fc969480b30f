/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of point-to-point calls, by their error class, for each rank as the other end. */
#include "../check.h"

static int called, handled;

static void handler(MPI_Comm *c, int *code, ...)
{
	(void)c;
	MPI_Error_class(*code, &handled);
	called++;
}

static void report(const char *what, int other, int rc)
{
	static const struct {
		int class;
		const char *name;
	} names[] = {{MPI_SUCCESS, "success"}, {MPI_ERR_BUFFER, "buffer"}, {MPI_ERR_COUNT, "count"},
		{MPI_ERR_TYPE, "type"}, {MPI_ERR_RANK, "rank"}, {MPI_ERR_TAG, "tag"}};
	const char *name = "other";
	int class = -1;
	MPI_Error_class(rc, &class);
	if (called && class == MPI_SUCCESS) /* MPICH 5 returns it after a handler that returns */
		class = handled;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].class == class)
			name = names[i].name;
	CHECK_INT(called, class != MPI_SUCCESS);
	called = 0;
	printf("rank %d: %s, %d: %s\n", rank, what, other, name);
}

static void wrong_values(int other)
{
	MPI_Request r;
	MPI_Message m;
	int x[2] = {0}, flag;

	report("a negative count sent", other, MPI_Send(x, -1, MPI_INT, other, 1, WORLD));
	report("a negative count received", other, MPI_Irecv(x, -1, MPI_INT, other, 1, WORLD, &r));
	report("a negative tag sent", other, MPI_Isend(x, 1, MPI_INT, other, -1, WORLD, &r));
	report("a negative tag received", other, MPI_Recv_init(x, 1, MPI_INT, other, -10, WORLD, &r));
	report("a negative tag probed", other, MPI_Improbe(other, -10, WORLD, &flag, &m, MPI_STATUS_IGNORE));
	report("no type sent", other, MPI_Bsend(x, 1, MPI_DATATYPE_NULL, other, 1, WORLD));
	report("no type received", other, MPI_Recv(x, 1, MPI_DATATYPE_NULL, other, 1, WORLD, MPI_STATUS_IGNORE));
}

static void wrong_ranks(int other)
{
	MPI_Request r;
	int x = 0, flag;

	report("sent to", other, MPI_Send(&x, 1, MPI_INT, other, 1, WORLD));
	report("sent and received", other,
		MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 1, MPI_PROC_NULL, 1, WORLD, MPI_STATUS_IGNORE));
	report("received from", other, MPI_Irecv(&x, 1, MPI_INT, other, 1, WORLD, &r));
	report("probed", other, MPI_Iprobe(other, 1, WORLD, &flag, MPI_STATUS_IGNORE));
}

/* A null pointer is MPI_BOTTOM, which is right for a datatype that begins elsewhere, or that is empty. */
static void nowhere(int other, const char *name, MPI_Datatype t)
{
	MPI_Request r;
	char text[100];
#define REPORT(WHAT, CALL) snprintf(text, sizeof text, "nothing %s as %s", WHAT, name), report(text, other, CALL)
	REPORT("sent", MPI_Send(NULL, 1, t, other, 1, WORLD));
	REPORT("sent with handshake", MPI_Issend(NULL, 1, t, other, 1, WORLD, &r));
	REPORT("received", MPI_Recv(NULL, 1, t, other, 1, WORLD, MPI_STATUS_IGNORE));
	REPORT("received from anywhere", MPI_Irecv(NULL, 1, t, MPI_ANY_SOURCE, 1, WORLD, &r));
	REPORT("to be sent often", MPI_Send_init(NULL, 1, t, other, 1, WORLD, &r));
	REPORT("to be received often", MPI_Recv_init(NULL, 1, t, other, 1, WORLD, &r));
	REPORT("replaced", MPI_Sendrecv_replace(NULL, 1, t, other, 1, MPI_PROC_NULL, 1, WORLD, MPI_STATUS_IGNORE));
#undef REPORT
}

static void right(MPI_Datatype gaps)
{
	MPI_Datatype elsewhere, none;
	int x[3] = {rank, -1, rank + 1}, y[3] = {-1, -1, -1}, one = 1;
	MPI_Aint at;

	MPI_Type_contiguous(0, MPI_INT, &none), MPI_Type_commit(&none);
	MPI_Get_address(x, &at);
	MPI_Type_create_hindexed(1, &one, &at, gaps, &elsewhere), MPI_Type_commit(&elsewhere);
	for (int step = 1; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		report("bottom sent", to,
			MPI_Sendrecv(MPI_BOTTOM, 1, elsewhere, to, 2, y, 1, gaps, from, 2, WORLD, MPI_STATUS_IGNORE));
		CHECK(y[0] == from && y[1] == -1 && y[2] == from + 1, "%d and %d from %d", y[0], y[2], from);
		report("no bytes sent", to,
			MPI_Sendrecv(NULL, 1, none, to, 3, NULL, 0, MPI_INT, from, 3, WORLD, MPI_STATUS_IGNORE));
	}
	MPI_Type_free(&elsewhere);
	MPI_Type_free(&none);
}

/* Nothing is sent by an exchange that cannot receive, and nothing is received by one that cannot send. */
static void half_right(int distance)
{
	int x = rank, y = -1, flag = 0, to = (rank + distance) % size, from = (rank + size - distance) % size;

	report("replaced from nowhere", to,
		MPI_Sendrecv_replace(&x, 1, MPI_INT, to, 7, size, 7, WORLD, MPI_STATUS_IGNORE));
	report("exchanged from nowhere", to,
		MPI_Sendrecv(&x, 1, MPI_INT, to, 7, &y, 1, MPI_INT, size, 7, WORLD, MPI_STATUS_IGNORE));
	MPI_Send(&x, 1, MPI_INT, to, 8, WORLD);
	MPI_Probe(from, 8, WORLD, MPI_STATUS_IGNORE);
	MPI_Iprobe(from, 7, WORLD, &flag, MPI_STATUS_IGNORE);
	CHECK_INT(flag, 0);
	report("exchanged to nowhere", from,
		MPI_Sendrecv(&x, 1, MPI_INT, size, 8, &y, 1, MPI_INT, from, 8, WORLD, MPI_STATUS_IGNORE));
	report("replaced to nowhere", from,
		MPI_Sendrecv_replace(&x, 1, MPI_INT, size, 8, from, 8, WORLD, MPI_STATUS_IGNORE));
	MPI_Recv(&y, 1, MPI_INT, from, 8, WORLD, MPI_STATUS_IGNORE);
	CHECK_INT(y, from);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Errhandler e;
	MPI_Datatype three, gaps;
	MPI_Type_contiguous(3, MPI_INT, &three), MPI_Type_commit(&three);
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps), MPI_Type_commit(&gaps);
	MPI_Comm_create_errhandler(handler, &e);
	MPI_Comm_set_errhandler(WORLD, e);

	for (int other = 0; other < size; other++) {
		wrong_values(other);
		nowhere(other, "an int", MPI_INT);
		nowhere(other, "three", three);
		nowhere(other, "two with a gap", gaps);
	}
	nowhere(MPI_PROC_NULL, "an int", MPI_INT);
	wrong_ranks(size);
	wrong_ranks(-7);
	right(gaps);
	for (int distance = 1; distance < size; distance++)
		half_right(distance);

	MPI_Type_free(&three);
	MPI_Type_free(&gaps);
	MPI_Errhandler_free(&e);
	return end();
}
