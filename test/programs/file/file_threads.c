/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread with files, while others send messages around on communicators of their own. It is one, as MPICH 4.0.2 has a
 * lock around each call on any file, which two collective ones may wait for crosswise.
 * twin: timeout=100 layouts=2+2,1+1+2 endpoints=3 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "files.h"

#define THREADS 3
#define ROUNDS 6
#define LEN 700

static MPI_Comm comms[THREADS];
static int wrong[THREADS];
static atomic_int files_done;

/* The macros of check.h count in one number for all. */
#define TRUE_HERE(condition) (wrong[me] += !(condition))

static void *write_and_read(void *arg)
{
	const int me = (int)(size_t)arg;
	char name[40], out[LEN], in[LEN];
	MPI_File f;
	MPI_Request r;
	MPI_Offset n = 0;

	snprintf(name, sizeof name, "file_threads.%d", me);
	for (int i = 0; i < ROUNDS; i++) {
		int next = (rank + i) % size;
		TRUE_HERE(MPI_File_open(comms[me], name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
				  MPI_INFO_NULL, &f) == MPI_SUCCESS);
		fill(out, LEN, (uint32_t)(rank + 10 * me + 100 * i));
		TRUE_HERE(MPI_File_write_at_all(f, rank * LEN, out, LEN, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
		TRUE_HERE(MPI_File_write_ordered(f, out, i % 2, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
		MPI_File_sync(f);
		MPI_Barrier(comms[me]); /* some have written over others' */
		TRUE_HERE(MPI_File_write_at(f, rank * LEN, out, LEN, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
		MPI_File_sync(f);
		MPI_Barrier(comms[me]);
		TRUE_HERE(MPI_File_iread_at(f, next * LEN, in, LEN, MPI_BYTE, &r) == MPI_SUCCESS);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		TRUE_HERE(filled(in, LEN, (uint32_t)(next + 10 * me + 100 * i)));
		TRUE_HERE(MPI_File_get_size(f, &n) == MPI_SUCCESS && n == size * LEN);
		TRUE_HERE(MPI_File_close(&f) == MPI_SUCCESS);
	}
	files_done = 1;
	return NULL;
}

static void *send_around(void *arg)
{
	const int me = (int)(size_t)arg;
	char *out = malloc(100000), *in = malloc(100000);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;

	for (int i = 0; i < 10 * ROUNDS; i++) {
		int n = i % 5 ? 100 : 100000;
		fill(out, (size_t)n, (uint32_t)(rank * 1000 + i));
		MPI_Sendrecv(out, n, MPI_BYTE, right, i, in, n, MPI_BYTE, left, i, comms[me], MPI_STATUS_IGNORE);
		TRUE_HERE(filled(in, (size_t)n, (uint32_t)(left * 1000 + i)));
	}
	free(in);
	free(out);
	return NULL;
}

/*
 * A handler that is set for all later files stays, whatever files are opened meanwhile. Predefined ones, as with others
 * native MPICH 4.0.2 ends here: it has counted too few references to them.
 */
static void set_handlers(void)
{
	MPI_Errhandler got;

	for (int i = 0; !files_done; i++) {
		MPI_Errhandler set = i % 2 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
		MPI_File_set_errhandler(MPI_FILE_NULL, set);
		for (int k = 0; k < 5; k++) {
			MPI_File_get_errhandler(MPI_FILE_NULL, &got);
			CHECK(got == set, "another handler of MPI_FILE_NULL");
			usleep(100);
		}
	}
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	CHECK_INT(provided, MPI_THREAD_MULTIPLE);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, i == 0 ? write_and_read : send_around, (void *)(size_t)i);
	set_handlers();
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		CHECK_INT(wrong[i], 0);
		MPI_Comm_free(&comms[i]);
	}
	return end();
}
