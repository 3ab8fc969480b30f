/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of all ranks: access modes, explicit offsets, individual pointers, sizes, hints, groups, nonblocking and split
 * access, and their end. twin: endpoints=2 */
#include "files.h"

#define NAME "file_basic.dat"
#define BLOCK 1000

static void explicit_offsets(void)
{
	MPI_File f;
	MPI_Status status;
	MPI_Offset size_ = -1;
	char out[BLOCK], in[BLOCK];
	int n = -1, amode = 0;

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL, MPI_INFO_NULL, &f));
	OK(MPI_File_get_amode(f, &amode));
	CHECK_INT(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL);
	OK(MPI_File_get_size(f, &size_));
	CHECK_INT(size_, 0);
	MPI_Barrier(WORLD);
	fill(out, BLOCK, (uint32_t)rank);
	OK(MPI_File_write_at(f, (MPI_Offset)rank * BLOCK, out, BLOCK, MPI_BYTE, &status));
	MPI_Get_count(&status, MPI_BYTE, &n);
	CHECK_INT(n, BLOCK);
	settle(f);
	OK(MPI_File_get_size(f, &size_));
	CHECK_INT(size_, size * BLOCK);
	for (int r = 0; r < size; r++) {
		memset(in, 0, BLOCK);
		OK(MPI_File_read_at(f, (MPI_Offset)r * BLOCK, in, BLOCK, MPI_BYTE, &status));
		CHECK(filled(in, BLOCK, (uint32_t)r), "what rank %d wrote", r);
	}
	/* collectively, each what the next one wrote */
	int next = (rank + 1) % size;
	OK(MPI_File_read_at_all(f, (MPI_Offset)next * BLOCK, in, BLOCK, MPI_BYTE, &status));
	CHECK(filled(in, BLOCK, (uint32_t)next), "what the next one wrote");
	OK(MPI_File_read_at(f, (MPI_Offset)size * BLOCK - 10, in, BLOCK, MPI_BYTE, &status));
	MPI_Get_count(&status, MPI_BYTE, &n);
	CHECK_INT(n, 10);
	OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL, "the handle is gone");
	show("explicit offsets", NAME);
}

static void individual_pointers(void)
{
	MPI_File f;
	MPI_Offset at = -1, bytes = -1;
	int numbers[100], back[100];

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_view(f, rank * 400, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	for (int i = 0; i < 100; i++)
		numbers[i] = rank * 1000 + i;
	OK(MPI_File_write(f, numbers, 60, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_get_position(f, &at));
	CHECK_INT(at, 60);
	OK(MPI_File_write_all(f, numbers + 60, 40, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_get_byte_offset(f, 3, &bytes));
	CHECK_INT(bytes, rank * 400 + 12);
	settle(f);
	OK(MPI_File_seek(f, 10, MPI_SEEK_SET));
	OK(MPI_File_read(f, back, 50, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_seek(f, -60, MPI_SEEK_CUR));
	OK(MPI_File_read_all(f, back + 50, 10, MPI_INT, MPI_STATUS_IGNORE));
	for (int i = 0; i < 60; i++)
		CHECK_INT(back[i], rank * 1000 + (i < 50 ? i + 10 : i - 50));
	OK(MPI_File_close(&f));
	show("individual pointers", NAME);
}

static void sizes(void)
{
	MPI_File f;
	MPI_Offset n = -1;
	char c = 'x';

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	for (int i = 0; i < 5; i++) {
		/* nobody sees an old size, and what is written after that stays */
		OK(MPI_File_set_size(f, 100 * (i % 3)));
		OK(MPI_File_get_size(f, &n));
		CHECK_INT(n, 100 * (i % 3));
		MPI_Barrier(WORLD);
		OK(MPI_File_write_at(f, 300 + rank, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE));
		settle(f);
		OK(MPI_File_get_size(f, &n));
		CHECK_INT(n, 300 + size);
		MPI_Barrier(WORLD);
	}
	OK(MPI_File_preallocate(f, 5000));
	OK(MPI_File_get_size(f, &n));
	CHECK_INT(n, 5000);
	OK(MPI_File_preallocate(f, 10));
	OK(MPI_File_get_size(f, &n));
	CHECK_INT(n, 5000);
	OK(MPI_File_close(&f));
	show("sizes", NAME);
	OK(MPI_File_open(WORLD, NAME, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &f));
	OK(MPI_File_get_position(f, &n));
	CHECK_INT(n, 5000);
	OK(MPI_File_close(&f));
}

static void hints_and_group(void)
{
	MPI_File f;
	MPI_Info info, used;
	MPI_Group of_file, of_world;
	char value[100] = "";
	int flag = 0, result = -1;

	MPI_Info_create(&info);
	MPI_Info_set(info, "romio_ds_read", "disable");
	MPI_Info_set(info, "cb_buffer_size", "65536");
	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, info, &f));
	OK(MPI_File_get_info(f, &used));
	MPI_Info_get(used, "romio_ds_read", 99, value, &flag);
	CHECK(flag && strcmp(value, "disable") == 0, "romio_ds_read is %s", value);
	MPI_Info_get(used, "cb_buffer_size", 99, value, &flag);
	CHECK(flag && strcmp(value, "65536") == 0, "cb_buffer_size is %s", value);
	MPI_Info_free(&used);
	MPI_Info_set(info, "romio_ds_read", "enable");
	OK(MPI_File_set_info(f, info));
	OK(MPI_File_get_info(f, &used));
	MPI_Info_get(used, "romio_ds_read", 99, value, &flag);
	CHECK(flag && strcmp(value, "enable") == 0, "romio_ds_read is %s", value);
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	OK(MPI_File_get_group(f, &of_file));
	MPI_Comm_group(WORLD, &of_world);
	MPI_Group_compare(of_file, of_world, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Group_free(&of_file);
	MPI_Group_free(&of_world);
	OK(MPI_File_close(&f));
}

/* Requests of files, of messages, and collective ones, in one call. */
static void nonblocking(void)
{
	MPI_File f;
	MPI_Request r[6];
	MPI_Status status[6];
	enum { N = 3000 };
	static int out[N], in[N], came[N], sums[N];
	int left = (rank + size - 1) % size, right = (rank + 1) % size, n = -1, flag;

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
	for (int i = 0; i < N; i++)
		out[i] = rank + i * 10;
	OK(MPI_File_iwrite_at(f, (MPI_Offset)rank * sizeof out, out, N, MPI_INT, &r[0]));
	MPI_Irecv(came, N, MPI_INT, left, 5, WORLD, &r[1]);
	MPI_Isend(out, N, MPI_INT, right, 5, WORLD, &r[2]);
	MPI_Iallreduce(out, sums, N, MPI_INT, MPI_SUM, WORLD, &r[3]);
	MPI_Waitall(4, r, status);
	MPI_Get_count(&status[0], MPI_INT, &n);
	CHECK_INT(n, N);
	CHECK_INT(came[7], left + 70);
	CHECK_INT(sums[1], size * (size - 1) / 2 + 10 * size);
	settle(f);
	OK(MPI_File_iread_at(f, (MPI_Offset)right * sizeof out, in, N, MPI_INT, &r[0]));
	MPI_Wait(&r[0], &status[0]);
	CHECK_INT(in[N - 1], right + (N - 1) * 10);

	OK(MPI_File_seek(f, (MPI_Offset)right * sizeof out, MPI_SEEK_SET));
	OK(MPI_File_iread(f, in, N, MPI_INT, &r[0]));
	for (flag = 0; !flag;)
		MPI_Test(&r[0], &flag, &status[0]);
	CHECK_INT(in[5], right + 50);

	/* collective ones, whose progress communicates, beside messages */
	memset(came, 0, sizeof came);
	MPI_Irecv(came, N, MPI_INT, left, 6, WORLD, &r[2]);
	OK(MPI_File_iwrite_at_all(f, (MPI_Offset)(size + rank) * sizeof out, out, N, MPI_INT, &r[0]));
	MPI_Isend(out, N, MPI_INT, right, 6, WORLD, &r[1]);
	MPI_Waitall(3, r, status);
	CHECK_INT(came[N - 1], left + (N - 1) * 10);
	settle(f);
	memset(in, 0, sizeof in);
	OK(MPI_File_iread_at_all(f, (MPI_Offset)(size + right) * sizeof out, in, N, MPI_INT, &r[0]));
	MPI_Irecv(came, N, MPI_INT, left, 7, WORLD, &r[1]);
	MPI_Isend(out, N, MPI_INT, right, 7, WORLD, &r[2]);
	for (int done = 0; done < 3;) {
		int index, any;
		MPI_Testany(3, r, &index, &any, &status[0]);
		done += any && index != MPI_UNDEFINED;
	}
	CHECK_INT(in[77], right + 770);
	OK(MPI_File_seek(f, (MPI_Offset)left * sizeof out, MPI_SEEK_SET));
	OK(MPI_File_iread_all(f, in, N, MPI_INT, &r[0]));
	MPI_Wait(&r[0], &status[0]);
	MPI_Get_count(&status[0], MPI_INT, &n);
	CHECK_INT(n, N);
	CHECK_INT(in[3], left + 30);
	OK(MPI_File_close(&f));
	show("nonblocking", NAME);
}

static void split(void)
{
	MPI_File f;
	MPI_Status status;
	int out[50], in[50], n = -1, sum;

	OK(MPI_File_open(WORLD, NAME, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	for (int i = 0; i < 50; i++)
		out[i] = rank * i;
	OK(MPI_File_write_at_all_begin(f, (MPI_Offset)rank * sizeof out, out, 50, MPI_INT));
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
	OK(MPI_File_write_at_all_end(f, out, &status));
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK_INT(n, 50);
	settle(f);
	OK(MPI_File_seek(f, (MPI_Offset)(size - 1 - rank) * sizeof out, MPI_SEEK_SET));
	OK(MPI_File_read_all_begin(f, in, 50, MPI_INT));
	OK(MPI_File_read_all_end(f, in, &status));
	CHECK_INT(in[49], (size - 1 - rank) * 49);
	OK(MPI_File_close(&f));
	show("split", NAME);
}

/* On communicators of other orders and members, several at a time, and one that is freed before. */
static void communicators(void)
{
	MPI_Comm reversed, odd;
	MPI_File all, some, self;
	char name[40], c = (char)('a' + rank), in[64] = "";
	int r, n;

	MPI_Comm_split(WORLD, 0, -rank, &reversed);
	MPI_Comm_split(WORLD, rank % 2, rank, &odd);
	MPI_Comm_rank(reversed, &r);
	OK(MPI_File_open(reversed, "file_basic.all", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &all));
	MPI_Comm_free(&reversed);
	snprintf(name, sizeof name, "file_basic.%d", rank % 2);
	OK(MPI_File_open(odd, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &some));
	snprintf(name, sizeof name, "file_basic.self%d", rank);
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		&self));
	OK(MPI_File_write_at_all(all, r, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	OK(MPI_File_write_at_all(some, rank / 2, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE));
	/* requests of one that is local, beside messages that are not */
	MPI_Request several[4];
	MPI_Status status[4];
	OK(MPI_File_iwrite_at(self, 0, &c, 1, MPI_BYTE, &several[0]));
	MPI_Irecv(&n, 1, MPI_INT, (rank + size - 1) % size, 3, WORLD, &several[1]);
	OK(MPI_File_iwrite_at_all(self, 1, &c, 1, MPI_BYTE, &several[2]));
	MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, WORLD, &several[3]);
	MPI_Waitall(4, several, status);
	CHECK_INT(n, (rank + size - 1) % size);
	MPI_Get_count(&status[2], MPI_BYTE, &n);
	CHECK_INT(n, 1);
	settle(all);
	MPI_Barrier(odd);
	MPI_Comm_size(odd, &n);
	OK(MPI_File_read_at_all(some, 0, in, n, MPI_BYTE, MPI_STATUS_IGNORE));
	printf("rank %d reads %s\n", rank, in);
	memset(in, 0, sizeof in);
	OK(MPI_File_read_at_all(all, 0, in, size, MPI_BYTE, MPI_STATUS_IGNORE));
	printf("rank %d reads %s\n", rank, in);
	OK(MPI_File_close(&self));
	OK(MPI_File_close(&some));
	OK(MPI_File_close(&all));
	MPI_Barrier(WORLD);
	snprintf(name, sizeof name, "file_basic.%d", rank % 2);
	CHECK_INT(class_of(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &self)),
		MPI_ERR_NO_SUCH_FILE);
	MPI_Comm_free(&odd);
	if (rank == 0)
		OK(MPI_File_delete("file_basic.all", MPI_INFO_NULL));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	if (rank == 0)
		MPI_File_delete(NAME, MPI_INFO_NULL); /* of a run before */
	MPI_Barrier(WORLD);
	explicit_offsets();
	individual_pointers();
	sizes();
	hints_and_group();
	nonblocking();
	split();
	communicators();
	if (rank == 0)
		OK(MPI_File_delete(NAME, MPI_INFO_NULL));
	return end();
}
