/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties of windows: groups, attributes, names, info; errors and their handlers; windows of communicators of
 * some ranks, several at once, and of no memory; ranks that are none; functions with large counts.
 */
#include "../check.h"

static void attributes_of(MPI_Win win, const void *base, MPI_Aint bytes, int unit, int flavor)
{
	void *value;
	int flag, *number;

	MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
	CHECK_INT(flag, 1);
	if (flavor != MPI_WIN_FLAVOR_DYNAMIC && bytes > 0)
		CHECK(value == base, "base of flavor %d: %td away", flavor, (char *)value - (const char *)base);
	if (flavor == MPI_WIN_FLAVOR_DYNAMIC)
		CHECK(value == MPI_BOTTOM, "base of a dynamic window");
	MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
	CHECK_INT(flag, 1);
	CHECK_INT(*(MPI_Aint *)value, bytes);
	MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
	CHECK_INT(*number, unit);
	MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
	CHECK_INT(*number, flavor);
	MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
	CHECK_INT(flag, 1);
	CHECK(*number == MPI_WIN_UNIFIED || *number == MPI_WIN_SEPARATE, "model");
	printf("rank %d: flavor %d, model %s\n", rank, flavor, *number == MPI_WIN_UNIFIED ? "unified" : "separate");
}

static void all_flavors(void)
{
	int *base = NULL;
	_Alignas(16) int memory[8]; /* MPICH 4.0.2 tells of a base that is a multiple of 16 */
	MPI_Win win;

	MPI_Win_create(memory, sizeof memory, 1 + rank, MPI_INFO_NULL, WORLD, &win);
	attributes_of(win, memory, sizeof memory, 1 + rank, MPI_WIN_FLAVOR_CREATE);
	MPI_Win_free(&win);
	CHECK(win == MPI_WIN_NULL, "a freed window");
	MPI_Win_allocate(64 * (rank + 1), 4, MPI_INFO_NULL, WORLD, &base, &win);
	attributes_of(win, base, 64 * (rank + 1), 4, MPI_WIN_FLAVOR_ALLOCATE);
	MPI_Win_free(&win);
	MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win);
	attributes_of(win, NULL, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
	MPI_Win_free(&win);
	MPI_Win_create(NULL, 0, 8, MPI_INFO_NULL, WORLD, &win);
	attributes_of(win, NULL, 0, 8, MPI_WIN_FLAVOR_CREATE);
	MPI_Win_free(&win);
}

/* --- attributes of the application, names, groups, info --- */

static int deleted;

static int delete_attribute(MPI_Win win, int key, void *value, void *extra)
{
	(void)win;
	(void)key;
	CHECK_INT(*(int *)value, 42);
	CHECK_INT(*(int *)extra, 7);
	deleted++;
	return MPI_SUCCESS;
}

static void own_attributes(MPI_Win win)
{
	static int extra = 7, value = 42;
	int key, flag, *got;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &key, &extra);
	MPI_Win_get_attr(win, key, &got, &flag);
	CHECK_INT(flag, 0);
	MPI_Win_set_attr(win, key, &value);
	MPI_Win_get_attr(win, key, &got, &flag);
	CHECK_INT(flag, 1);
	CHECK(got == &value, "an attribute");
	MPI_Win_delete_attr(win, key);
	CHECK_INT(deleted, 1);
	MPI_Win_get_attr(win, key, &got, &flag);
	CHECK_INT(flag, 0);
	MPI_Win_set_attr(win, key, &value); /* until the window is freed */
	MPI_Win_free_keyval(&key);
	CHECK_INT(key, MPI_KEYVAL_INVALID);
}

static void names_of(MPI_Win win)
{
	char name[MPI_MAX_OBJECT_NAME] = "x";
	int len = -1;

	MPI_Win_get_name(win, name, &len);
	CHECK_INT(len, strlen(name));
	CHECK_INT(len, 0);
	MPI_Win_set_name(win, "a window");
	MPI_Win_get_name(win, name, &len);
	CHECK_INT(len, 8);
	CHECK(strcmp(name, "a window") == 0, "name: %s", name);
}

static void group_of(MPI_Win win, MPI_Comm comm)
{
	MPI_Group g, h;
	int result;

	MPI_Win_get_group(win, &g);
	MPI_Comm_group(comm, &h);
	MPI_Group_compare(g, h, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Group_free(&g);
	MPI_Group_free(&h);
}

static void info_of(MPI_Win win)
{
	MPI_Info info, got;
	char value[MPI_MAX_INFO_VAL + 1] = "";
	int flag = 0;

	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "false");
	MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
	MPI_Info_set(info, "zipper_knows_nothing_of_this", "1");
	MPI_Win_set_info(win, info);
	MPI_Info_free(&info);
	MPI_Win_get_info(win, &got);
	CHECK(got != MPI_INFO_NULL, "info");
	MPI_Info_get(got, "no_locks", MPI_MAX_INFO_VAL, value, &flag);
	printf("rank %d: no_locks %s\n", rank, flag ? value : "is not there");
	MPI_Info_free(&got);
}

static void told(void)
{
	int memory[4];
	MPI_Win win;

	MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win);
	own_attributes(win);
	names_of(win);
	group_of(win, WORLD);
	info_of(win);
	MPI_Win_free(&win);
	CHECK_INT(deleted, 2);
}

/* --- errors --- */

static int handled;
static MPI_Win handled_win;

static void handler(MPI_Win *win, int *code, ...)
{
	int class;
	MPI_Error_class(*code, &class);
	handled++;
	handled_win = *win;
	CHECK_INT(class, MPI_ERR_RANK);
}

static void say(const char *what, int rc)
{
	int class;
	MPI_Error_class(rc, &class);
	printf("rank %d: %s: class %d\n", rank, what, class);
}

/* Into the wrong place, with the wrong arguments, in the wrong order: nothing is done. */
static void wrong_arguments(MPI_Win win)
{
	int x = 1, y = 2, z = 3;
	MPI_Datatype lazy, mixed, types[] = {MPI_INT, MPI_FLOAT};
	int lens[] = {1, 1};
	MPI_Aint disps[] = {0, 4};
	MPI_Request r;

	MPI_Type_contiguous(1, MPI_INT, &lazy);
	MPI_Type_create_struct(2, lens, disps, types, &mixed);
	MPI_Type_commit(&mixed);
	MPI_Win_fence(0, win);
	say("put to rank -5", MPI_Put(&x, 1, MPI_INT, -5, 0, 1, MPI_INT, win));
	say("put to a rank too many", MPI_Put(&x, 1, MPI_INT, size, 0, 1, MPI_INT, win));
	say("get from a rank too many", MPI_Get(&x, 1, MPI_INT, size, 0, 1, MPI_INT, win));
	say("accumulate to a rank too many", MPI_Accumulate(&x, 1, MPI_INT, size, 0, 1, MPI_INT, MPI_SUM, win));
	say("put of -1", MPI_Put(&x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
	say("put as -1", MPI_Put(&x, 1, MPI_INT, 0, 0, -1, MPI_INT, win));
	say("put of no type", MPI_Put(&x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
	say("put as no type", MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win));
	say("put of a type not committed", MPI_Put(&x, 1, lazy, 0, 0, 1, MPI_INT, win));
	say("get as a type not committed", MPI_Get(&x, 1, MPI_INT, 0, 0, 1, lazy, win));
	say("put at -3", MPI_Put(&x, 1, MPI_INT, 0, -3, 1, MPI_INT, win));
	say("accumulate by no operation", MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
	say("fetch of several types", MPI_Fetch_and_op(&x, &y, mixed, 0, 0, MPI_SUM, win));
	say("swap of doubles", MPI_Compare_and_swap(&x, &y, &z, MPI_DOUBLE, 0, 0, win));
	say("rput outside of a lock", MPI_Rput(&x, 1, MPI_INT, size, 0, 1, MPI_INT, win, &r));
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Type_free(&lazy);
	MPI_Type_free(&mixed);
}

static void wrong_order(MPI_Win win)
{
	int x = 1, flag;
	MPI_Group group;

	MPI_Win_get_group(win, &group);
	say("complete without start", MPI_Win_complete(win));
	say("wait without post", MPI_Win_wait(win));
	say("test without post", MPI_Win_test(win, &flag));
	say("unlock without lock", MPI_Win_unlock(0, win));
	say("unlock_all without lock_all", MPI_Win_unlock_all(win));
	say("flush without lock", MPI_Win_flush(0, win));
	say("flush_all without lock", MPI_Win_flush_all(win));
	say("flush_local without lock", MPI_Win_flush_local(0, win));
	say("put outside", MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
	say("get outside", MPI_Get(&x, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win));
	say("lock of a rank too many", MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win));
	say("lock of no kind", MPI_Win_lock(12345, 0, 0, win));
	say("lock with an assertion of fences", MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPRECEDE, win));
	say("start with an assertion of post", MPI_Win_start(group, MPI_MODE_NOSTORE, win));
	say("post with an assertion of fences", MPI_Win_post(group, MPI_MODE_NOSUCCEED, win));
	say("lock_all with an assertion of post", MPI_Win_lock_all(MPI_MODE_NOPUT, win));
	say("fence with an assertion that is none", MPI_Win_fence(1 << 30, win));
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	say("lock in a lock", MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
	say("lock_all in a lock", MPI_Win_lock_all(0, win));
	say("start in a lock", MPI_Win_start(group, MPI_MODE_NOCHECK, win));
	say("fence in a lock", MPI_Win_fence(0, win));
	MPI_Win_unlock(rank, win);
	MPI_Win_lock_all(0, win);
	say("lock_all in lock_all", MPI_Win_lock_all(0, win));
	say("lock in lock_all", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	say("unlock in lock_all", MPI_Win_unlock(0, win));
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Group_free(&group);
}

static void wrong_windows(void)
{
	int memory[4];
	MPI_Win win = MPI_WIN_NULL;
	MPI_Errhandler of_world;

	MPI_Comm_get_errhandler(WORLD, &of_world);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	say("window of -1 bytes", MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, WORLD, &win));
	say("window with unit 0", MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, WORLD, &win));
	say("window with unit -1", MPI_Win_allocate(64, -1, MPI_INFO_NULL, WORLD, &win, &win));
	say("put to no window", MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
	say("fence of no window", MPI_Win_fence(0, MPI_WIN_NULL));
	say("free of no window", MPI_Win_free(&win));
	say("window of no communicator", MPI_Win_create(memory, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
	MPI_Comm_set_errhandler(WORLD, of_world);
	MPI_Errhandler_free(&of_world);
}

static void errors_of_windows(void)
{
	int memory[4], x = 0;
	MPI_Win win;
	MPI_Errhandler own, got;

	MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win);
	MPI_Win_get_errhandler(win, &got);
	CHECK(got == MPI_ERRORS_ARE_FATAL, "the first handler");
	MPI_Win_create_errhandler(handler, &own);
	MPI_Win_set_errhandler(win, own);
	MPI_Win_fence(0, win);
	MPI_Put(&x, 1, MPI_INT, size + 3, 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	CHECK_INT(handled, 1);
	CHECK(handled_win == win, "the window of the handler");
	MPI_Errhandler_free(&own);
	MPI_Win_call_errhandler(win, MPI_ERR_RANK);
	CHECK_INT(handled, 2);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	wrong_arguments(win);
	wrong_order(win);
	MPI_Win_free(&win);
	wrong_windows();
}

/* --- windows of some ranks --- */

static void ring(MPI_Comm comm, MPI_Win win, const int *cell)
{
	int n, me, out;

	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &me);
	out = 100 * n + me;
	MPI_Win_fence(0, win);
	MPI_Put(&out, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	CHECK_INT(*cell, 100 * n + (me + n - 1) % n);
	MPI_Barrier(comm);
	out = 3 * me;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, n - 1 - me, 0, win);
	MPI_Put(&out, 1, MPI_INT, n - 1 - me, 0, 1, MPI_INT, win);
	MPI_Win_unlock(n - 1 - me, win);
	MPI_Barrier(comm);
	MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
	CHECK_INT(*cell, 3 * (n - 1 - me));
	MPI_Win_unlock(me, win);
	group_of(win, comm);
	MPI_Barrier(comm);
}

static void some_ranks(void)
{
	int *cell;
	MPI_Comm comm;
	MPI_Win win;

	for (int how = 0; how < 4; how++) {
		/* odd and even, the world backwards, all but the last, each for itself */
		int color = how == 0   ? rank % 2
			    : how == 2 ? (rank == size - 1 ? MPI_UNDEFINED : 0)
			    : how == 3 ? rank
				       : 0;
		MPI_Comm_split(WORLD, color, how == 1 ? -rank : rank, &comm);
		if (comm == MPI_COMM_NULL)
			continue;
		MPI_Win_allocate(64, 4, MPI_INFO_NULL, comm, &cell, &win);
		ring(comm, win, cell);
		/* the communicator may go first */
		MPI_Comm copy;
		MPI_Comm_dup(comm, &copy);
		MPI_Comm_free(&comm);
		ring(copy, win, cell);
		MPI_Win_free(&win);
		MPI_Comm_free(&copy);
	}
	MPI_Barrier(WORLD);
}

#define MANY 12

static void several(void)
{
	int *cell[MANY];
	MPI_Win win[MANY];

	for (int i = 0; i < MANY; i++) {
		MPI_Win_allocate(64, 4, MPI_INFO_NULL, WORLD, &cell[i], &win[i]);
		*cell[i] = -1;
	}
	for (int i = 0; i < MANY; i++)
		MPI_Win_fence(0, win[i]);
	for (int i = MANY - 1; i >= 0; i--) {
		int out = 10 * i + rank;
		MPI_Accumulate(&out, 1, MPI_INT, (rank + i) % size, 0, 1, MPI_INT, MPI_REPLACE, win[i]);
		MPI_Win_fence(0, win[i]);
		CHECK_INT(*cell[i], 10 * i + (rank + MANY * size - i) % size);
	}
	for (int i = 0; i < MANY; i += 2)
		MPI_Win_free(&win[i]);
	for (int i = 1; i < MANY; i += 2) {
		ring(WORLD, win[i], cell[i]);
		MPI_Win_free(&win[i]);
	}
}

/* --- ranks that are none, large counts --- */

static void null_ranks(void)
{
	int memory[4] = {1, 2, 3, 4}, x = 5, y = 6, z = 7;
	MPI_Win win;

	MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Get(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Accumulate(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Get_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Fetch_and_op(&x, &y, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win);
	MPI_Compare_and_swap(&x, &y, &z, MPI_INT, MPI_PROC_NULL, 0, win);
	MPI_Win_fence(0, win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win);
	MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Win_flush(MPI_PROC_NULL, win);
	MPI_Win_unlock(MPI_PROC_NULL, win);
	CHECK(x == 5 && y == 6 && z == 7, "nobody answers");
	for (int i = 0; i < 4; i++)
		CHECK_INT(memory[i], i + 1);
	MPI_Win_free(&win);
}

static void large_counts(void)
{
	int *memory, out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {0}, next = (rank + 1) % size,
		     left = (rank + size - 1) % size;
	MPI_Count two = 2, four = 4;
	MPI_Request r[4];
	MPI_Win win;

	MPI_Win_allocate_c(64, 4, MPI_INFO_NULL, WORLD, &memory, &win);
	memset(memory, 0, 64);
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Put_c(out, two, MPI_INT, next, 0, two, MPI_INT, win);
	MPI_Accumulate_c(out, two, MPI_INT, next, 2, two, MPI_INT, MPI_SUM, win);
	MPI_Win_flush(next, win);
	MPI_Get_c(in, four, MPI_INT, next, 0, four, MPI_INT, win);
	MPI_Win_flush(next, win);
	for (int i = 0; i < 4; i++)
		CHECK_INT(in[i], rank + i % 2);
	MPI_Get_accumulate_c(out, two, MPI_INT, in, two, MPI_INT, next, 2, two, MPI_INT, MPI_SUM, win);
	MPI_Win_flush(next, win);
	MPI_Rput_c(out, two, MPI_INT, next, 4, two, MPI_INT, win, &r[0]);
	MPI_Raccumulate_c(out, two, MPI_INT, next, 6, two, MPI_INT, MPI_SUM, win, &r[1]);
	MPI_Rget_c(in, two, MPI_INT, next, 0, two, MPI_INT, win, &r[2]);
	MPI_Rget_accumulate_c(out, two, MPI_INT, in + 2, two, MPI_INT, next, 2, two, MPI_INT, MPI_SUM, win, &r[3]);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 4; i++)
		CHECK_INT(in[i], (rank + i % 2) * (i < 2 ? 1 : 2));
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	for (int i = 0; i < 8; i++)
		CHECK_INT(memory[i], (left + i % 2) * (i == 2 || i == 3 ? 3 : 1));
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&win);
	_Alignas(16) int own[2];
	MPI_Win_create_c(own, sizeof own, 4, MPI_INFO_NULL, WORLD, &win);
	attributes_of(win, own, sizeof own, 4, MPI_WIN_FLAVOR_CREATE);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	all_flavors();
	told();
	errors_of_windows();
	some_ranks();
	several();
	null_ranks();
	large_counts();
	return end();
}
