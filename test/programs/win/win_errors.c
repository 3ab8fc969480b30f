/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of operations on a member in the other part are raised by the call that completes them, through the handler of
 * the window. No memory beside the window is touched, correct operations beside them are carried out, and the window
 * stays usable. Native MPI does not look at bounds. twin: native=no layouts=2+2 external32=yes endpoints=3
 */
#include "../check.h"

#define INTS 64
#define AROUND 32 /* ints before and behind the window */
#define LARGE 100000

static int memory[AROUND + INTS + AROUND];
static int *const base = memory + AROUND;
static int there, from; /* the rank whose window I use, and the rank that uses mine */
static MPI_Win win;
static int handled;

#define CHECK_CLASS(call, wanted)                                                                                      \
	do {                                                                                                           \
		int class_ = class_of(call);                                                                           \
		CHECK(class_ == (wanted), "%s: class %d, not %d", #call, class_, wanted);                              \
	} while (0)

static void handler(MPI_Win *w, int *code, ...)
{
	handled += *w == win && class_of(*code) == MPI_ERR_RMA_RANGE;
}

static void lock(void)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, there, 0, win);
}

/* Everything but base[0] is as it was, which has what the last right operation has put there. */
static void check_memory(int first)
{
	MPI_Barrier(WORLD);
	CHECK_INT(base[0], first);
	for (int i = -AROUND; i < INTS + AROUND; i++)
		if (i != 0)
			CHECK_INT(base[i], 1000 + i);
	MPI_Barrier(WORLD);
}

/* MPICH 4.0.2 tells of one that is a multiple of 16. */
static void check_base(void)
{
	MPI_Win odd;
	void *value;
	int flag;

	MPI_Win_create(base + 1, sizeof(int), 1, MPI_INFO_NULL, WORLD, &odd);
	MPI_Win_get_attr(odd, MPI_WIN_BASE, &value, &flag);
	CHECK(flag && value == base + 1, "base is %td bytes away", (char *)value - (char *)(base + 1));
	MPI_Win_free(&odd);
}

static void out_of_range(void)
{
	static int large[LARGE];
	int few[10] = {0}, got[10] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, right = rank + 100, zero = 0;

	lock();
	CHECK_CLASS(MPI_Put(few, 10, MPI_INT, there, INTS - 9, 10, MPI_INT, win), MPI_SUCCESS);
	CHECK_CLASS(MPI_Put(&right, 1, MPI_INT, there, 0, 1, MPI_INT, win), MPI_SUCCESS);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_SUCCESS);
	CHECK_CLASS(MPI_Put(large, LARGE, MPI_INT, there, 0, LARGE, MPI_INT, win), MPI_SUCCESS);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_ERR_RMA_RANGE);
	check_memory(from + 100);

	lock();
	MPI_Get(got, 10, MPI_INT, there, INTS - 9, 10, MPI_INT, win);
	CHECK_CLASS(MPI_Win_flush_local(there, win), MPI_ERR_RMA_RANGE);
	for (int i = 0; i < 10; i++)
		CHECK_INT(got[i], 5);
	MPI_Accumulate(large, LARGE, MPI_INT, there, 1, LARGE, MPI_INT, MPI_SUM, win);
	CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_RANGE);
	MPI_Get_accumulate(few, 10, MPI_INT, got, 10, MPI_INT, there, INTS, 10, MPI_INT, MPI_SUM, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	MPI_Get_accumulate(large, LARGE, MPI_INT, large, LARGE, MPI_INT, there, 1, LARGE, MPI_INT, MPI_NO_OP, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	MPI_Fetch_and_op(&zero, got, MPI_INT, there, INTS, MPI_SUM, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	MPI_Compare_and_swap(&zero, &zero, got, MPI_INT, there, INTS, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Put(few, 1, MPI_INT, there, -1, 1, MPI_INT, win), MPI_ERR_DISP);
	/* as far as a displacement goes */
	MPI_Put(few, 1, MPI_INT, there, (MPI_Aint)1 << 62, 1, MPI_INT, win);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_ERR_RMA_RANGE);
	check_memory(from + 100);
}

static void requests(void)
{
	int few[10] = {0};
	MPI_Request r;

	lock();
	MPI_Rget(few, 10, MPI_INT, there, INTS, 10, MPI_INT, win, &r);
	CHECK_CLASS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_SUCCESS); /* it has been told */
	MPI_Rget(few, 10, MPI_INT, there, INTS, 10, MPI_INT, win, &r);
	MPI_Request_free(&r);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_ERR_RMA_RANGE);
	check_memory(from + 100);
}

static void types(void)
{
	MPI_Datatype mixed, before;
	int lengths[2] = {1, 1}, few[10] = {0};
	MPI_Aint at[2] = {0, 4};
	MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};

	int right = from == there ? rank + 100 : -1, some[3];

	/* more than it is for; less is as in a message */
	lock();
	MPI_Put(few, 10, MPI_INT, there, 5, 5, MPI_INT, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_TRUNCATE);
	MPI_Put(&right, right < 0 ? 0 : 1, MPI_INT, there, 0, 5, MPI_INT, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_SUCCESS);
	MPI_Get(few, 10, MPI_INT, there, 5, 3, MPI_INT, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_SUCCESS);
	for (int i = 0; i < 10; i++)
		CHECK_INT(few[i], i < 3 ? 1005 + i : 0);
	MPI_Get(some, 3, MPI_INT, there, 5, 10, MPI_INT, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	/* of a kind that has no such operation. Open MPI looks at that before it begins */
	double number = 1;
	int refused_at_once;
	refused_at_once = MPI_Accumulate(&number, 1, MPI_DOUBLE, there, 0, 1, MPI_DOUBLE, MPI_BAND, win);
	CHECK_CLASS(refused_at_once ? refused_at_once : MPI_Win_flush(there, win), MPI_ERR_OP);
	/* to fold only one kind of number is allowed */
	MPI_Type_create_struct(2, lengths, at, parts, &mixed);
	MPI_Type_commit(&mixed);
	refused_at_once = MPI_Accumulate(few, 1, mixed, there, 5, 1, mixed, MPI_SUM, win);
	if (!refused_at_once)
		CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_TYPE);
	/* begins before the window */
	MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){-4}, MPI_INT, &before);
	MPI_Type_commit(&before);
	MPI_Put(few, 1, MPI_INT, there, 0, 1, before, win);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_ERR_RMA_RANGE);
	MPI_Type_free(&mixed);
	MPI_Type_free(&before);
	check_memory(from + 100);
}

static void epochs(void)
{
	int x = 0;

	CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, there, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
	lock();
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, there, 0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, from == there ? rank : from, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_SUCCESS);
	check_memory(from + 100);
}

static void by_handler(void)
{
	MPI_Errhandler h;
	int x = 0;

	MPI_Win_create_errhandler(handler, &h);
	MPI_Win_set_errhandler(win, h);
	lock();
	MPI_Put(&x, 1, MPI_INT, there, INTS, 1, MPI_INT, win);
	MPI_Win_unlock(there, win);
	CHECK_INT(handled, 1);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&h);
}

/* Only what is attached may be accessed, at its address. */
static void dynamic(void)
{
	MPI_Aint mine, theirs;
	int x = 7;

	MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_attach(win, base, INTS * sizeof(int));
	MPI_Get_address(base, &mine);
	MPI_Sendrecv(&mine, 1, MPI_AINT, from, 0, &theirs, 1, MPI_AINT, there, 0, WORLD, MPI_STATUS_IGNORE);
	lock();
	MPI_Put(&x, 1, MPI_INT, there, theirs - 4, 1, MPI_INT, win);
	CHECK_CLASS(MPI_Win_flush(there, win), MPI_ERR_RMA_RANGE);
	MPI_Put(&x, 1, MPI_INT, there, theirs, 1, MPI_INT, win);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_SUCCESS);
	check_memory(7);
	MPI_Win_detach(win, base);
	MPI_Barrier(WORLD);
	lock();
	MPI_Put(&x, 1, MPI_INT, there, theirs, 1, MPI_INT, win);
	CHECK_CLASS(MPI_Win_unlock(there, win), MPI_ERR_RMA_RANGE);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	there = (rank + size / 2) % size;
	from = (rank + size - size / 2) % size;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = -AROUND; i < INTS + AROUND; i++)
		base[i] = 1000 + i;
	MPI_Win_create(base, INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	check_base();
	out_of_range();
	requests();
	types();
	epochs();
	by_handler();
	MPI_Win_free(&win);
	dynamic();
	return end();
}
