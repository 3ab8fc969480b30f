/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not supported on communicators that span clusters say so, through the communicator's error
 * handler, and do nothing by halves; the same functions work on a communicator inside one cluster. twin: native=no
 * layouts=2+2
 */
#include "../check.h"

#define REFUSED(call)                                                                                                  \
	do {                                                                                                           \
		int class_ = class_of(call);                                                                           \
		CHECK(class_ == MPI_ERR_UNSUPPORTED_OPERATION, "%s: class %d", #call, class_);                         \
	} while (0)

static int handled;
static void handler(MPI_Comm *c, int *code, ...)
{
	int n;
	MPI_Comm_size(*c, &n);
	handled += class_of(*code) == MPI_ERR_UNSUPPORTED_OPERATION && n == size;
}

/* Functions of newer MPICHs alone. */
static void newer(void)
{
#ifdef MPIX_EQUAL
	int value = 1, result = -1;
	REFUSED(MPI_Allreduce(&value, &result, 1, MPI_INT, MPIX_EQUAL, WORLD));
	CHECK_INT(result, -1);
	CHECK_INT(MPI_Allreduce(&value, &result, 1, MPI_INT, MPIX_EQUAL, MPI_COMM_SELF), MPI_SUCCESS);
	CHECK_INT(result, 1);
#endif
#ifdef MPIX_STREAM_NULL
	MPI_Comm c;
	REFUSED(MPIX_Stream_comm_create(WORLD, MPIX_STREAM_NULL, &c));
	REFUSED(MPIX_Threadcomm_init(WORLD, 2, &c));
#endif
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm c, local;
	MPI_Win win;
	MPI_File file;
	int dims[2] = {2, 2}, periods[2] = {0, 0}, buf[16] = {0}, n;
	char text[MPI_MAX_ERROR_STRING], path[] = "/dev/null";
	void *mem;

	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	REFUSED(MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, WORLD, &mem, &win));
	int rc = MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, WORLD, &mem, &win);
	MPI_Error_string(rc, text, &n);
	CHECK(strstr(text, "MPI_Win_allocate_shared"), "the text names the function: %.200s", text);

	CHECK_INT(class_of(MPI_Comm_split_type(WORLD, 12345, 0, MPI_INFO_NULL, &c)), MPI_ERR_ARG);

	newer();

	/* by the handler of the communicator */
	MPI_Errhandler h;
	MPI_Comm dup;
	MPI_Comm_dup(WORLD, &dup);
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_set_errhandler(dup, h);
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, dup, &mem, &win);
	CHECK_INT(handled, 1);
	MPI_Comm_free(&dup);
	MPI_Errhandler_free(&h);

	/* inside a cluster all of it is native */
	MPI_Comm_split(WORLD, rank / 2, rank, &local);
	CHECK_INT(MPI_Win_create(buf, sizeof buf, 4, MPI_INFO_NULL, local, &win), MPI_SUCCESS);
	MPI_Group members, others;
	CHECK_INT(MPI_Win_get_group(win, &members), MPI_SUCCESS);
	MPI_Comm_group(local, &others);
	MPI_Group_compare(members, others, &n);
	CHECK_INT(n, MPI_IDENT);
	MPI_Group_free(&members);
	MPI_Group_free(&others);
	MPI_Win_fence(0, win);
	int there = 1 - rank % 2, value = 77;
	MPI_Put(&value, 1, MPI_INT, there, 3, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	CHECK_INT(buf[3], 77);
	MPI_Win_free(&win);
	dims[0] = 2, dims[1] = 1;
	CHECK_INT(MPI_Cart_create(local, 2, dims, periods, 0, &c), MPI_SUCCESS);
	MPI_Comm_free(&c);
	CHECK_INT(MPI_File_open(local, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_SUCCESS);
	MPI_File_close(&file);
	MPI_Comm_free(&local);

	/* and the world still works */
	int sum;
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(sum, size * (size - 1) / 2);
	return end();
}
