/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with many datatypes. MPICH 4.0.2 packs some bytes too few of datatypes that are one piece of memory, where
 * their handle is a high one; and it never frees a datatype with gaps whose receive is cancelled.
 * twin: external32=yes
 */
#include "../check.h"

#define MANY 3000
#define INTS 4 /* of a datatype; 16 is no multiple of 3, to which MPICH may round */

static MPI_Datatype kept[MANY];
static int nkept;

/* Until the next handles are among those that are packed short; nothing else where none are. */
static void keep_many(void)
{
	for (int at = 4; nkept < MANY && at == 4; nkept++) {
		float x = 0, packed;
		at = 0;
		MPI_Type_contiguous(1, MPI_FLOAT, &kept[nkept]);
		MPI_Type_commit(&kept[nkept]);
		MPI_Pack(&x, 1, kept[nkept], &packed, 4, &at, MPI_COMM_SELF);
	}
}

/* INTS elements, in one piece from *first on. */
static MPI_Datatype make(int kind, int *first)
{
	int sizes[] = {2, 2}, starts[] = {0, 0}, lens[] = {1, 3}, disps[] = {2, 3};
	MPI_Aint bytes[] = {8, 12};
	MPI_Datatype t = MPI_DATATYPE_NULL;
	*first = kind >= 2 ? 2 : 0;
	switch (kind) {
	case 0:
		MPI_Type_create_subarray(2, sizes, sizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
		break;
	case 1:
		MPI_Type_contiguous_c(INTS, MPI_INT, &t);
		break;
	case 2:
		MPI_Type_indexed(2, lens, disps, MPI_INT, &t);
		break;
	case 3:
		MPI_Type_create_hindexed(2, lens, bytes, MPI_INT, &t);
		break;
	}
	MPI_Type_commit(&t);
	return t;
}
#define KINDS 4

#define ROOM 40
static int out[ROOM], in[ROOM];

static void prepare(int seed)
{
	for (int i = 0; i < ROOM; i++)
		out[i] = seed * 1000 + rank * 100 + i, in[i] = -1;
}

/* In `in` lie n ints from rank r's out, there from `from` on, here from `at` on; ahead of them nothing. */
static void check_in(const char *what, int kind, int seed, int r, int from, int at, int n)
{
	for (int i = 0; i < n; i++)
		CHECK(in[at + i] == seed * 1000 + r * 100 + from + i, "%s, type %d, from %d: in[%d] is %d", what, kind,
			r, at + i, in[at + i]);
}

static void move(int kind)
{
	int first, seed = kind + 1;
	MPI_Datatype t = make(kind, &first);
	for (int step = 1; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		prepare(seed);
		MPI_Sendrecv(out, 2, t, to, 1, in, 2, t, from, 1, WORLD, MPI_STATUS_IGNORE);
		check_in("sendrecv", kind, seed, from, first, first, 2 * INTS);
		prepare(seed);
		memcpy(in, out, sizeof in);
		MPI_Sendrecv_replace(in, 1, t, to, 2, from, 2, WORLD, MPI_STATUS_IGNORE);
		check_in("sendrecv_replace", kind, seed, from, first, first, INTS);
	}
	for (int root = 0; root < size; root++) {
		prepare(seed);
		if (rank == root)
			memcpy(in, out, sizeof in);
		MPI_Bcast(in, 2, t, root, WORLD);
		check_in("bcast", kind, seed, root, first, first, 2 * INTS);
		prepare(seed);
		MPI_Gather(out, 1, t, in, INTS, MPI_INT, root, WORLD);
		for (int r = 0; r < size && rank == root; r++)
			check_in("gather", kind, seed, r, first, r * INTS, INTS);
		prepare(seed);
		MPI_Scatter(out, 1, t, in, INTS, MPI_INT, root, WORLD);
		check_in("scatter", kind, seed, root, first + rank * INTS, 0, INTS);
	}
	prepare(seed);
	MPI_Allgather(out, 1, t, in, 1, t, WORLD);
	for (int r = 0; r < size; r++)
		check_in("allgather", kind, seed, r, first, first + r * INTS, INTS);
	prepare(seed);
	MPI_Alltoall(out, 1, t, in, INTS, MPI_INT, WORLD);
	for (int r = 0; r < size; r++)
		check_in("alltoall", kind, seed, r, first + rank * INTS, r * INTS, INTS);
	MPI_Type_free(&t);
}

/* Addresses instead of a buffer, with a gap. */
static void by_address(void)
{
	MPI_Datatype from, to;
	MPI_Aint at[2];
	int ones[] = {1, 1};
	prepare(9);
	MPI_Get_address(&out[1], &at[0]), MPI_Get_address(&out[5], &at[1]);
	MPI_Type_create_hindexed(2, ones, at, MPI_INT, &from), MPI_Type_commit(&from);
	MPI_Get_address(&in[2], &at[0]), MPI_Get_address(&in[0], &at[1]);
	MPI_Type_create_hindexed(2, ones, at, MPI_INT, &to), MPI_Type_commit(&to);
	for (int root = 0; root < size; root++) {
		MPI_Bcast(MPI_BOTTOM, 1, rank == root ? from : to, root, WORLD);
		CHECK(rank == root || (in[2] == 9001 + root * 100 && in[0] == 9005 + root * 100),
			"bcast by address: %d %d", in[2], in[0]);
	}
	prepare(10);
	MPI_Allgather(MPI_BOTTOM, 1, from, in, 2, MPI_INT, WORLD);
	for (int r = 0; r < size; r++)
		CHECK(in[2 * r] == 10001 + r * 100 && in[2 * r + 1] == 10005 + r * 100, "allgather by address");
	prepare(11);
	memcpy(in, out, sizeof in);
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Sendrecv_replace(MPI_BOTTOM, 1, to, next, 7, prev, 7, WORLD, MPI_STATUS_IGNORE);
	CHECK(in[2] == 11002 + prev * 100 && in[0] == 11000 + prev * 100, "replaced by address: %d %d", in[2], in[0]);
	MPI_Type_free(&from), MPI_Type_free(&to);
}

/* Freed as soon as they are used, and others made in their place. */
static void freed(int source, int bytes)
{
	static char bytes_out[30000], bytes_in[3 * 30000];
	MPI_Request r[4];
	MPI_Status st;
	int count, next = (rank + 1) % size, prev = (rank + size - 1) % size;
	for (int i = 0; i < 2; i++) {
		MPI_Datatype t;
		if (i == 0)
			MPI_Type_contiguous(bytes, MPI_BYTE, &t);
		else
			MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &t);
		MPI_Type_commit(&t);
		MPI_Irecv(bytes_in + i * bytes, 1, t, source, 20 + i, WORLD, &r[i]);
		MPI_Type_free(&t);
	}
	fill(bytes_out, (size_t)bytes, (uint32_t)rank);
	memset(bytes_in, 0, sizeof bytes_in);
	MPI_Barrier(WORLD);
	for (int i = 0; i < 2; i++)
		MPI_Isend(bytes_out, bytes, MPI_BYTE, next, 20 + i, WORLD, &r[2 + i]);
	for (int i = 0; i < 2; i++) {
		MPI_Wait(&r[i], &st);
		MPI_Get_count(&st, MPI_BYTE, &count);
		CHECK_INT(count, bytes);
	}
	for (int i = 0; i < 2; i++)
		MPI_Wait(&r[2 + i], &st);
	CHECK(filled(bytes_in, (size_t)bytes, (uint32_t)prev), "%d bytes from %d", bytes, prev);
	for (int i = 0; i < bytes; i++)
		CHECK(bytes_in[bytes + 2 * i] == bytes_in[i] && (i == bytes - 1 || !bytes_in[bytes + 2 * i + 1]),
			"%d bytes with gaps from %d, at %d", bytes, prev, i);
	MPI_Barrier(WORLD);
}

static int number(void)
{
	MPI_Datatype t;
	MPI_Type_contiguous(2, MPI_INT, &t);
	int n = t & 0xffffff; /* MPICH's ABI */
	MPI_Type_free(&t);
	return n;
}

/* From any source, into new datatypes: with gaps, and of another length than the message. */
static void from_anybody(void)
{
	enum { TIMES = 60, ALL = 3, LONG = 30000 };
	static int big[2 * LONG];
	MPI_Status st;
	int count, before = number();
	for (int i = 0; i < TIMES * (rank == 0 ? size - 1 : 1); i++) {
		MPI_Datatype t;
		if (rank > 0) {
			prepare(i);
			MPI_Send(out, 1 + i % ALL, MPI_2INT, 0, 3, WORLD);
			continue;
		}
		static int next[64];
		memset(in, 0xff, sizeof in);
		MPI_Type_vector(2, 1, 2, MPI_INT, &t);
		MPI_Type_commit(&t);
		MPI_Recv(in, ALL, t, MPI_ANY_SOURCE, 3, WORLD, &st);
		MPI_Get_count(&st, t, &count);
		MPI_Type_free(&t);
		int k = next[st.MPI_SOURCE]++, n = 1 + k % ALL;
		CHECK_INT(count, n);
		for (int j = 0; j < 3 * ALL; j++) /* elements of three ints, side by side */
			CHECK_INT(in[j], j % 3 == 1 || j >= 3 * n
						 ? -1
						 : k * 1000 + st.MPI_SOURCE * 100 + j / 3 * 2 + (j % 3 > 0));
	}
	for (int i = 0; i < 300; i++) { /* given up again */
		MPI_Datatype t;
		MPI_Request r;
		int cancelled;
		MPI_Type_vector(2, 1, 2, MPI_INT, &t);
		MPI_Type_commit(&t);
		MPI_Irecv(in, 1, t, MPI_ANY_SOURCE, 4, WORLD, &r);
		MPI_Type_free(&t);
		MPI_Cancel(&r);
		MPI_Wait(&r, &st);
		MPI_Test_cancelled(&st, &cancelled);
		CHECK_INT(cancelled, 1);
	}
	/* MPICH alone keeps what was cancelled; merged there is nothing for it to keep */
	int grown = number() - before;
	CHECK(grown <= 400, "%d datatypes were not freed", grown);

	MPI_Datatype v;
	MPI_Type_vector(LONG, 1, 2, MPI_INT, &v);
	MPI_Type_commit(&v);
	memset(big, 0xff, sizeof big);
	for (int i = 0; i < 2 * LONG; i++)
		big[i] = rank > 0 && i % 2 == 0 ? i + rank : big[i];
	if (rank > 0)
		MPI_Send(big, 1, v, 0, 5, WORLD);
	for (int n = 1; n < size && rank == 0; n++) {
		MPI_Recv(big, 1, v, MPI_ANY_SOURCE, 5, WORLD, &st);
		for (int i = 0; i < 2 * LONG; i++)
			CHECK_INT(big[i], i % 2 ? -1 : i + st.MPI_SOURCE);
	}
	MPI_Type_free(&v);
}

/* MPI keeps a datatype for the communication that uses it, and that is no copy of it for the application to see. */
static int copied;
static int copy(MPI_Datatype t, int key, void *extra, void *value, void *to, int *flag)
{
	(void)t, (void)key, (void)extra, (void)value, (void)to;
	copied++;
	*flag = 0;
	return MPI_SUCCESS;
}
/* Callbacks see the world that the application sees. */
static int deleted;
static int delete (MPI_Datatype t, int key, void *value, void *extra)
{
	(void)t, (void)key, (void)value, (void)extra;
	MPI_Comm_size(WORLD, &deleted);
	return MPI_SUCCESS;
}
static void attributes(void)
{
	MPI_Datatype t;
	MPI_Request r;
	int key, prev = (rank + size - 1) % size;
	MPI_Type_create_keyval(copy, delete, &key, NULL);
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Type_set_attr(t, key, &copied);
	prepare(12);
	MPI_Irecv(in, 1, t, prev, 6, WORLD, &r);
	MPI_Send(out, 1, t, (rank + 1) % size, 6, WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK(in[0] == 12000 + prev * 100 && in[1] == -1 && in[2] == 12002 + prev * 100, "%d %d %d", in[0], in[1],
		in[2]);
	CHECK_INT(copied, 0);
	MPI_Type_free(&t);
	CHECK_INT(deleted, size);
	MPI_Type_free_keyval(&key);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	attributes();
	from_anybody();
	for (int any = 0; any < 2; any++)
		for (int bytes = 1; bytes <= 30000; bytes *= 30)
			freed(any ? MPI_ANY_SOURCE : (rank + size - 1) % size, bytes);
	keep_many();
	for (int kind = 0; kind < KINDS; kind++)
		move(kind);
	by_address();
	for (int i = 0; i < nkept; i++)
		MPI_Type_free(&kept[i]);
	return end();
}
