/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared file pointers: in the order of the ranks, each rank for itself, seeking, sequential access, and that nothing
 * is left beside the file. twin: endpoints=2 */
#include <dirent.h>

#include "files.h"

#define NAME "file_shared.dat"
#define RECORD 16

static void ordered(void)
{
	MPI_File f;
	MPI_Status status;
	MPI_Offset at = -1;
	int out[20], in[20], n = -1, mine = rank % 3 + 1, before = 0;

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	for (int i = 0; i < 20; i++)
		out[i] = rank * 100 + i;
	for (int round = 0; round < 3; round++) {
		OK(MPI_File_write_ordered(f, out + round, mine, MPI_INT, &status));
		MPI_Get_count(&status, MPI_INT, &n);
		CHECK_INT(n, mine);
	}
	int total = 0;
	for (int r = 0; r < size; r++) {
		before += r < rank ? r % 3 + 1 : 0;
		total += r % 3 + 1;
	}
	MPI_Barrier(WORLD);
	OK(MPI_File_get_position_shared(f, &at));
	CHECK_INT(at, 3 * total);
	settle(f);
	OK(MPI_File_seek_shared(f, total, MPI_SEEK_SET));
	OK(MPI_File_get_position_shared(f, &at));
	CHECK_INT(at, total);
	MPI_Barrier(WORLD);
	OK(MPI_File_read_ordered(f, in, mine, MPI_INT, &status));
	CHECK_INT(in[mine - 1], rank * 100 + 1 + mine - 1);
	OK(MPI_File_read_ordered_begin(f, in, mine, MPI_INT));
	OK(MPI_File_read_ordered_end(f, in, &status));
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK_INT(n, mine);
	CHECK_INT(in[0], rank * 100 + 2);
	OK(MPI_File_write_ordered_begin(f, out, mine, MPI_INT));
	OK(MPI_File_write_ordered_end(f, out, &status));
	MPI_Barrier(WORLD);
	OK(MPI_File_seek_shared(f, -1, MPI_SEEK_END));
	OK(MPI_File_get_position_shared(f, &at));
	CHECK_INT(at, 4 * total - 1);
	MPI_Barrier(WORLD);
	OK(MPI_File_seek_shared(f, -3, MPI_SEEK_CUR));
	OK(MPI_File_get_position_shared(f, &at));
	CHECK_INT(at, 4 * total - 4);
	/* pointers of ranks are their own */
	OK(MPI_File_get_position(f, &at));
	CHECK_INT(at, 0);
	/* a new view begins at 0 */
	MPI_Barrier(WORLD);
	OK(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	OK(MPI_File_get_position_shared(f, &at));
	CHECK_INT(at, 0);
	OK(MPI_File_close(&f));
	(void)before;
	show("ordered", NAME);
}

/* Records that say whose they are: each is somewhere, whole, and once. */
static void records(void)
{
	MPI_File f;
	MPI_Request r[2];
	MPI_Status both[2];
	enum { EACH = 20 };
	char out[2][RECORD + 1], in[RECORD];
	int seen[EACH] = {0}, got = 0, all = 0, n = 0;

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
	for (int i = 0; i < EACH; i += 2) {
		for (int j = 0; j < 2; j++)
			snprintf(out[j], sizeof out[j], "rank %4d,%4d.\n", rank, i + j);
		if (i % 4) {
			for (int j = 0; j < 2; j++)
				OK(MPI_File_iwrite_shared(f, out[j], RECORD, MPI_CHAR, &r[j]));
			MPI_Waitall(2, r, both);
		} else {
			for (int j = 0; j < 2; j++)
				OK(MPI_File_write_shared(f, out[j], RECORD, MPI_CHAR, MPI_STATUS_IGNORE));
		}
	}
	settle(f);
	/* those of mine, in their order */
	for (int i = 0, last = -1; i < size * EACH; i++) {
		int who = -1, which = -1;
		OK(MPI_File_read_at(f, (MPI_Offset)i * RECORD, in, RECORD, MPI_CHAR, MPI_STATUS_IGNORE));
		CHECK(sscanf(in, "rank %d,%d.", &who, &which) == 2 && who >= 0 && who < size, "record %d: %.14s", i,
			in);
		if (who != rank || which < 0 || which >= EACH)
			continue;
		CHECK(which > last, "record %d after %d", which, last);
		last = which;
		seen[which]++;
	}
	for (int i = 0; i < EACH; i++)
		CHECK_INT(seen[i], 1);
	MPI_Barrier(WORLD);
	/* and all of them are read, by any rank */
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	for (;;) {
		MPI_Status status;
		if (got % 2)
			OK(MPI_File_read_shared(f, in, RECORD, MPI_CHAR, &status));
		else {
			OK(MPI_File_iread_shared(f, in, RECORD, MPI_CHAR, &r[0]));
			MPI_Wait(&r[0], &status);
		}
		MPI_Get_count(&status, MPI_CHAR, &n);
		if (n == 0)
			break;
		CHECK_INT(n, RECORD);
		got++;
	}
	MPI_Allreduce(&got, &all, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(all, size * EACH);
	OK(MPI_File_close(&f));
}

static void sequential(void)
{
	MPI_File f;
	int amode = 0, number[2] = {rank, rank + 1};

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
	OK(MPI_File_close(&f));
	OK(MPI_File_open(WORLD, NAME, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f));
	OK(MPI_File_get_amode(f, &amode));
	CHECK_INT(amode, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
	OK(MPI_File_write_ordered(f, number, 1, MPI_INT, MPI_STATUS_IGNORE));
	MPI_Barrier(WORLD);
	OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_write_ordered(f, number, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&f));
	show("sequential", NAME);
	/* at the end of what is there */
	OK(MPI_File_open(WORLD, NAME, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &f));
	OK(MPI_File_write_ordered(f, number, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&f));
	show("appended", NAME);
}

/* Two files with pointers at the same time, of other communicators. */
static void two(void)
{
	MPI_Comm reversed;
	MPI_File f, g;
	char c = (char)('a' + rank);

	MPI_Comm_split(WORLD, 0, -rank, &reversed);
	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_open(reversed, "file_shared.two", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &g));
	OK(MPI_File_write_ordered(g, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
	OK(MPI_File_write_ordered(f, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
	OK(MPI_File_write_ordered(g, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&f));
	OK(MPI_File_close(&g));
	show("one", NAME);
	show("the other", "file_shared.two");
	MPI_Comm_free(&reversed);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	if (rank == 0)
		MPI_File_delete(NAME, MPI_INFO_NULL); /* of a run before */
	MPI_Barrier(WORLD);
	ordered();
	records();
	sequential();
	two();
	if (rank == 0) {
		OK(MPI_File_delete(NAME, MPI_INFO_NULL));
		OK(MPI_File_delete("file_shared.two", MPI_INFO_NULL));
		DIR *here = opendir(".");
		for (struct dirent *e; here && (e = readdir(here));)
			CHECK(strncmp(e->d_name, ".file_shared.", 13) != 0, "%.200s is left", e->d_name);
		closedir(here);
	}
	return end();
}
