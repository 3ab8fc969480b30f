/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views that interleave the ranks, with holes between them and bytes of others in the holes: no write may bring back
 * bytes that another rank has overwritten meanwhile. Atomic mode. And a rank that waits for a message before a
 * collective access gets it from ranks that are in the access already. twin: endpoints=2
 */
#include "files.h"

#define NAME "file_views.dat"
#define BLOCKS 3000
#define LEN 5

/* Each rank has LEN bytes of each stride, and the last LEN bytes belong to no rank. */
static void interleaved(int collective, int noncontiguous, int rounds)
{
	MPI_File f;
	MPI_Datatype filetype, memory;
	const int stride = LEN * (size + 1);
	MPI_Offset all = (MPI_Offset)BLOCKS * stride;
	char *out = malloc(2 * BLOCKS * LEN), *in = malloc((size_t)all);

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	memset(in, '.', (size_t)all);
	if (rank == size - 1)
		OK(MPI_File_write_at(f, 0, in, (int)all, MPI_BYTE, MPI_STATUS_IGNORE));
	settle(f);
	MPI_Type_vector(BLOCKS, LEN, stride, MPI_BYTE, &filetype);
	MPI_Type_vector(BLOCKS, LEN, 2 * LEN, MPI_BYTE, &memory);
	MPI_Type_commit(&filetype);
	MPI_Type_commit(&memory);
	OK(MPI_File_set_view(f, rank * LEN, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
	for (int i = 0; i < rounds; i++) {
		memset(out, 'a' + (rank + i) % 26, 2 * BLOCKS * LEN);
		OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
		int n = noncontiguous ? 1 : BLOCKS * LEN;
		MPI_Datatype t = noncontiguous ? memory : MPI_BYTE;
		if (collective)
			OK(MPI_File_write_all(f, out, n, t, MPI_STATUS_IGNORE));
		else
			OK(MPI_File_write(f, out, n, t, MPI_STATUS_IGNORE));
	}
	settle(f);
	/* my own through the view, and all of it without */
	OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
	memset(in, 0, BLOCKS * LEN);
	OK(MPI_File_read_all(f, in, BLOCKS * LEN, MPI_BYTE, MPI_STATUS_IGNORE));
	for (int i = 0; i < BLOCKS * LEN; i++)
		if (in[i] != 'a' + (rank + rounds - 1) % 26) {
			CHECK(0, "byte %d of mine is %c", i, in[i]);
			break;
		}
	OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at_all(f, 0, in, (int)all, MPI_BYTE, MPI_STATUS_IGNORE));
	for (MPI_Offset i = 0; i < all; i++) {
		int who = (int)(i % stride) / LEN;
		char wanted = (char)(who == size ? '.' : 'a' + (who + rounds - 1) % 26);
		/* the file ends with the last rank's piece where nobody had written before: here all has */
		if (in[i] != wanted) {
			CHECK(0, "byte %lld is %c, not %c", (long long)i, in[i], wanted);
			break;
		}
	}
	MPI_Type_free(&filetype);
	MPI_Type_free(&memory);
	OK(MPI_File_close(&f));
	free(in);
	free(out);
}

/* An array of the ranks' blocks in the file's order, written and read by subarrays. */
static void subarrays(void)
{
	MPI_File f;
	MPI_Datatype t;
	enum { N = 40 };
	int sizes[2] = {N, N * size}, part[2] = {N, N}, starts[2] = {0, N * rank}, out[N][N], in[N][N];

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			out[i][j] = rank * 10000 + i * N + j;
	MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &t);
	MPI_Type_commit(&t);
	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
	OK(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL));
	OK(MPI_File_write_all(f, out, N * N, MPI_INT, MPI_STATUS_IGNORE));
	settle(f);
	OK(MPI_File_read_at_all(f, 0, in, N * N, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(memcmp(in, out, sizeof in) == 0, "what was written");
	MPI_Type_free(&t);
	OK(MPI_File_close(&f));
	show("subarrays", NAME);
}

/* A rank that reads while others write sees the whole of one write, or of another. */
static void atomic(void)
{
	MPI_File f;
	enum { N = 20000, TIMES = 30 };
	static char buf[N];
	int flag = -1, mixed = 0;

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
	OK(MPI_File_set_size(f, N));
	OK(MPI_File_set_atomicity(f, 1));
	OK(MPI_File_get_atomicity(f, &flag));
	CHECK_INT(flag, 1);
	MPI_Barrier(WORLD);
	for (int i = 0; i < TIMES; i++) {
		if (rank == 0 || rank == size - 1) {
			memset(buf, rank == 0 ? i : 100 + i, N);
			OK(MPI_File_write_at(f, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
		} else {
			OK(MPI_File_read_at(f, 0, buf, N, MPI_BYTE, MPI_STATUS_IGNORE));
			for (int j = 1; j < N; j++)
				mixed += buf[j] != buf[0];
		}
	}
	CHECK_INT(mixed, 0);
	OK(MPI_File_set_atomicity(f, 0));
	OK(MPI_File_close(&f));
}

/* A chain of large messages, each of which is sent after the collective access by its sender has begun, perhaps. */
static void messages_meanwhile(void)
{
	MPI_File f;
	enum { N = 300000 };
	static char out[N], in[N];
	MPI_Request r = MPI_REQUEST_NULL;
	char c = 'm';

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	for (int round = 0; round < 4; round++) {
		/* from the last to the first, in rounds that begin elsewhere */
		int me = (rank + round) % size, left = (rank + size - 1) % size, right = (rank + 1) % size;
		fill(out, N, (uint32_t)(round * size + rank));
		if (me != 0) {
			MPI_Recv(in, N, MPI_BYTE, left, round, WORLD, MPI_STATUS_IGNORE);
			CHECK(filled(in, N, (uint32_t)(round * size + left)), "message of round %d", round);
		}
		if (me != size - 1)
			MPI_Isend(out, N, MPI_BYTE, right, round, WORLD, &r);
		switch (round) {
		case 0:
			OK(MPI_File_write_at_all(f, rank, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE));
			break;
		case 1:
			OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
			break;
		case 2:
			OK(MPI_File_read_at_all(f, rank, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE));
			break;
		default:
			OK(MPI_File_close(&f));
		}
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	CHECK_INT(c, 'm');
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	if (rank == 0)
		MPI_File_delete(NAME, MPI_INFO_NULL); /* of a run before */
	MPI_Barrier(WORLD);
	interleaved(1, 0, 3);
	interleaved(0, 0, 3);
	interleaved(1, 1, 2);
	interleaved(0, 1, 2);
	show("interleaved", NAME);
	subarrays();
	atomic();
	messages_meanwhile();
	if (rank == 0)
		OK(MPI_File_delete(NAME, MPI_INFO_NULL));
	return end();
}
