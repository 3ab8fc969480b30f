/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls on intercommunicators, and errors in making them, by error class and through the right handler. twin:
 * timeout=120
 */
#include "inter_comms.h"

static int called, handled;

static void handler(MPI_Comm *c, int *code, ...)
{
	(void)c;
	MPI_Error_class(*code, &handled);
	called++;
}

static void report(const char *what, int rc)
{
	static const struct {
		int class;
		const char *name;
	} names[] = {{MPI_SUCCESS, "success"}, {MPI_ERR_ROOT, "root"}, {MPI_ERR_COUNT, "count"}, {MPI_ERR_TYPE, "type"},
		{MPI_ERR_OP, "op"}, {MPI_ERR_BUFFER, "buffer"}, {MPI_ERR_ARG, "arg"}, {MPI_ERR_COMM, "comm"},
		{MPI_ERR_RANK, "rank"}, {MPI_ERR_TAG, "tag"}, {MPI_ERR_GROUP, "group"}, {MPI_ERR_TRUNCATE, "truncate"}};
	const char *name = "other";
	int class = -1, length = 0;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Error_class(rc, &class);
	if (called && class == MPI_SUCCESS) /* MPICH 5 returns it after a handler that returns */
		class = handled;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].class == class)
			name = names[i].name;
	MPI_Error_string(rc, text, &length);
	CHECK(length > 0, "%s: no text", what);
	CHECK(called == (class != MPI_SUCCESS), "%s: the handler was called %d times", what, called);
	called = 0;
	printf("rank %d: %s: %s\n", rank, what, name);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	int x[8] = {0}, y[8] = {0};
	MPI_Request q;
	MPI_Errhandler e;
	MPI_Comm d;
	MPI_Group g;
	make_inters();
	use_inter(0);
	MPI_Comm_create_errhandler(handler, &e);
	MPI_Comm_set_errhandler(inter, e);
	MPI_Comm_set_errhandler(inter_locals[0], e);
	MPI_Comm_set_errhandler(WORLD, e); /* MPICH reports there an error that MPI_Wait finds */
	MPI_Comm_group(WORLD, &g);

	MPI_Comm local = inter_locals[0];
	report("a local leader too large", MPI_Intercomm_create(local, np, WORLD, 1 - side, 3, &d));
	report("a negative local leader", MPI_Intercomm_create(local, -1, WORLD, 1 - side, 3, &d));
	report("a negative tag", MPI_Intercomm_create(local, 0, WORLD, 1 - side, -3, &d));
	report("an intercommunicator as local one", MPI_Intercomm_create(inter, 0, WORLD, 1 - side, 3, &d));
	report("scan", MPI_Scan(x, y, 1, MPI_INT, MPI_SUM, inter));
	report("exscan", MPI_Exscan(x, y, 1, MPI_INT, MPI_SUM, inter));
	report("iscan", MPI_Iscan(x, y, 1, MPI_INT, MPI_SUM, inter, &q));
	report("bcast from a root too large", MPI_Bcast(x, 1, MPI_INT, nremote, inter));
	report("bcast from a negative root", MPI_Bcast(x, 1, MPI_INT, -7, inter));
	report("bcast of a negative count", MPI_Bcast(x, -1, MPI_INT, side ? MPI_ROOT : 0, inter));
	report("bcast of no type", MPI_Bcast(x, 1, MPI_DATATYPE_NULL, side ? MPI_ROOT : 0, inter));
	report("allreduce in place", MPI_Allreduce(MPI_IN_PLACE, y, 1, MPI_INT, MPI_SUM, inter));
	report("allreduce with no operation", MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL, inter));
	if (side == 0)
		report("reduce in place", MPI_Reduce(MPI_IN_PLACE, y, 1, MPI_INT, MPI_SUM, 0, inter));
	report("send to a rank too large", MPI_Send(x, 1, MPI_INT, nremote, 0, inter));
	report("receive from a rank too large", MPI_Recv(x, 1, MPI_INT, nremote, 0, inter, MPI_STATUS_IGNORE));
	if (mpich_version() < 500) /* 5.0.2 itself ends by an assertion */
		report("create with a group too large", MPI_Comm_create(inter, g, &d));
	report("create_group", MPI_Comm_create_group(inter, g, 3, &d));
	report("merge where a group does not agree", MPI_Intercomm_merge(inter, me == 0, &d));

	/* a message too long, from each to its partner */
	MPI_Irecv(x, 1, MPI_INT, me % nremote, 2, inter, &q);
	for (int r = 0; r < nremote; r++)
		if (r % np == me)
			MPI_Send(y, 3, MPI_INT, r, 2, inter);
	report("a message too long", MPI_Wait(&q, MPI_STATUS_IGNORE));

	/* and it still works */
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	x[0] = rank + 1;
	MPI_Allreduce(x, y, 1, MPI_INT, MPI_SUM, inter);
	int sum = 0;
	for (int r = 0; r < nremote; r++)
		sum += remote_world[r] + 1;
	CHECK_INT(y[0], sum);
	MPI_Group_free(&g);
	MPI_Errhandler_free(&e);
	free_inters();
	return end();
}
