/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes of the application, which its callback returns while a communicator is copied: MPI_Comm_dup, and
 * MPI_Comm_idup or its MPI_Wait, return the same code, and the handler gets it. The handler of the C++ binding, which
 * throws, returns codes too. twin: timeout=30 */
#include "../check.h"

static int returns, called, got;

static void handle(MPI_Comm *c, int *code, ...)
{
	(void)c;
	called++;
	got = *code;
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm, (void)keyval, (void)extra, (void)in, (void)out;
	*flag = 1;
	return returns;
}

/* how: a call that waits. Those of several requests return the code in the status. */
static int idup(MPI_Comm of, MPI_Comm *made, int how)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status s = {.MPI_ERROR = MPI_SUCCESS};
	int rc = MPI_Comm_idup(of, made, &r), flag = 0, n = 0, index;
	if (r == MPI_REQUEST_NULL)
		return rc;
	switch (how) {
	case 0:
		return MPI_Wait(&r, &s);
	case 1:
		while (!flag)
			rc = MPI_Test(&r, &flag, &s);
		return rc;
	case 2:
		return MPI_Waitany(1, &r, &index, &s);
	case 3:
		while (!flag)
			rc = MPI_Testany(1, &r, &index, &flag, &s);
		return rc;
	case 4:
		MPI_Waitall(1, &r, &s);
		break;
	case 5:
		while (!flag)
			MPI_Testall(1, &r, &flag, &s);
		break;
	case 6:
		MPI_Waitsome(1, &r, &n, &index, &s);
		break;
	default:
		while (n == 0)
			MPI_Testsome(1, &r, &n, &index, &s);
	}
	return s.MPI_ERROR;
}

/* The handler changes between the call and the beginning of the duplication, which waits for a collective that rank 0
 * begins when all others have changed theirs. The error calls one handler, once. */
static void changed_between(MPI_Comm comm, MPI_Errhandler handler)
{
	for (int i = 0; i < 2; i++) {
		MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
		MPI_Comm two;
		int go = 1;
		returns = MPI_ERR_ARG;
		called = 0;
		MPI_Comm_set_errhandler(comm, i ? MPI_ERRORS_RETURN : handler);
		for (int from = 1; rank == 0 && from < size; from++)
			MPI_Recv(&go, 1, MPI_INT, from, 1, WORLD, MPI_STATUS_IGNORE);
		MPI_Ibarrier(comm, &r[0]);
		MPI_Comm_idup(comm, &two, &r[1]);
		MPI_Comm_set_errhandler(comm, i ? handler : MPI_ERRORS_RETURN);
		if (rank > 0)
			MPI_Send(&go, 1, MPI_INT, 0, 1, WORLD);
		const int fails_later = r[1] != MPI_REQUEST_NULL;
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		/* MPI_Wait of MPICH 4.0.2 calls the handler of MPI_COMM_WORLD for it. The duplication of rank 0 may
		 * begin before rank 0 has changed its handler. */
		const int wanted = fails_later ? i == 1 || mpich_version() < 402 : i == 0;
		CHECK(called == wanted || (called == 1 && rank == 0 && i == 0), "%d calls", called);
	}
}

static void throws(void)
{
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
	MPI_File f;
	MPI_Comm_set_errhandler(WORLD, MPIR_ERRORS_THROW_EXCEPTIONS);
	CHECK_INT(class_of(MPI_Send(NULL, 0, MPI_INT, size, 0, WORLD)), MPI_ERR_RANK);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPIR_ERRORS_THROW_EXCEPTIONS);
	int rc = MPI_File_open(WORLD, "/nowhere/nothing", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	CHECK_INT(class_of(rc), MPI_ERR_NO_SUCH_FILE);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
#endif
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	int class, code, key, one = 1, length;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Comm comm, two;
	MPI_Errhandler handler;
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(class, "a class of ours");
	MPI_Add_error_string(code, "a code of ours");
	MPI_Comm_dup(WORLD, &comm);
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(comm, key, &one);
	MPI_Comm_set_errhandler(WORLD, handler); /* where MPI_Wait may raise it */
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	for (int i = 0; i < 3 + 3 * 8; i++) {
		returns = (int[]){class, code, MPI_ERR_ARG}[i % 3];
		called = 0;
		int rc = i < 3 ? MPI_Comm_dup(comm, &two) : idup(comm, &two, i / 3 - 1);
		if (mpich_version() >= 500 && rc == MPI_SUCCESS) /* MPICH 5 returns it after a handler that returns */
			rc = got;
		CHECK_INT(called, 1);
		CHECK_INT(got, rc);
		CHECK_INT(class_of(rc), i % 3 < 2 ? class : MPI_ERR_ARG);
		if (i % 3 == 2)
			continue;
		CHECK_INT(rc, returns);
		MPI_Error_string(rc, text, &length);
		printf("rank %d: %s\n", rank, text);
	}
	changed_between(comm, handler);
	MPI_Comm_free_keyval(&key);
	MPI_Errhandler_free(&handler);
	MPI_Comm_free(&comm);
	throws();
	return end();
}
