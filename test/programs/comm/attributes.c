/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes copied and deleted with communicators, names, error handlers, information about the world. */
#include "../check.h"

static int copies, deletes;
static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key, (void)extra;
	copies++;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}
static int del(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)value;
	*(int *)extra += 1;
	return MPI_SUCCESS;
}
/* a callback may call MPI, and sees the same world */
static int copy_asks(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	int n;
	(void)key, (void)extra, (void)in;
	MPI_Comm_size(c, &n);
	*(void **)out = (void *)(intptr_t)n;
	*flag = 1;
	return MPI_SUCCESS;
}
static int handled;
static void handler(MPI_Comm *c, int *code, ...)
{
	int class, n;
	MPI_Error_class(*code, &class);
	MPI_Comm_size(*c, &n);
	handled += class == MPI_ERR_RANK && n == size;
}

/* The callback may still communicate over the communicator that is being freed. */
static int talks(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int one = 1, n = 0, theirs = -1, me;
	MPI_Request q;
	(void)keyval, (void)value, (void)extra;
	MPI_Comm_rank(comm, &me);
	MPI_Barrier(comm);
	MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, comm);
	MPI_Irecv(&theirs, 1, MPI_INT, size - 1 - me, 9, comm, &q);
	MPI_Send(&me, 1, MPI_INT, size - 1 - me, 9, comm);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	printf("rank %d: %d say goodbye, %d to me\n", me, n, theirs);
	return MPI_SUCCESS;
}
static int refuse(MPI_Comm comm, int keyval, void *value, void *extra)
{
	static int asked;
	(void)comm, (void)keyval, (void)value, (void)extra;
	return asked++ ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* In MPI_Finalize: all of the world is still there, and MPI can be used in full (MPI-4.0 section 11.2.4). */
static MPI_Comm kept;
static int last_words(MPI_Comm comm, int keyval, void *value, void *extra)
{
	static int calls;
	int begun, over, of, n, me, to, mine, theirs = -1;
	MPI_Request q;
	(void)comm, (void)keyval;
	MPI_Initialized(&begun);
	MPI_Finalized(&over);
	MPI_Comm_rank(kept, &me);
	MPI_Comm_size(WORLD, &of);
	MPI_Allreduce(value, &n, 1, MPI_INT, MPI_SUM, kept);
	to = of - 1 - me;
	MPI_Irecv(&theirs, 1, MPI_INT, to, 9, WORLD, &q);
	mine = me * 100;
	MPI_Send(&mine, 1, MPI_INT, to, 9, WORLD);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	printf("rank %d of %d: %d. %s: initialized %d, finalized %d, sum %d, %d to me\n", me, of, ++calls,
		(const char *)extra, begun, over, n, theirs);
	return MPI_SUCCESS;
}
/* frees what was kept until now */
static int last_of_all(MPI_Comm comm, int keyval, void *value, void *extra)
{
	last_words(comm, keyval, value, extra);
	MPI_Comm_free(&kept);
	return MPI_SUCCESS;
}
static void leave_attributes(void)
{
	static const char *name[] = {"last", "never", "second", "first", "of the world"};
	static int value[5];
	int key[5];
	MPI_Comm_dup(WORLD, &kept);
	for (int i = 0; i < 5; i++) {
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, i == 4 ? last_of_all : last_words, &key[i],
			(void *)(uintptr_t)name[i]);
		value[i] = i + 1;
		MPI_Comm_set_attr(i == 4 ? WORLD : MPI_COMM_SELF, key[i], &value[i]);
	}
	MPI_Comm_set_attr(MPI_COMM_SELF, key[0], &value[4]); /* stays where it was */
	MPI_Comm_delete_attr(MPI_COMM_SELF, key[1]);
	for (int i = 0; i < 5; i++)
		MPI_Comm_free_keyval(&key[i]);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm c, d;
	int key, none, asks, flag, n, *tag_ub, *value;
	void *got;

	MPI_Comm_create_keyval(copy, del, &key, &deletes);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
	MPI_Comm_create_keyval(copy_asks, MPI_COMM_NULL_DELETE_FN, &asks, NULL);
	MPI_Comm_set_attr(WORLD, key, (void *)100);
	MPI_Comm_set_attr(WORLD, none, (void *)7);
	MPI_Comm_set_attr(WORLD, asks, (void *)7);
	MPI_Comm_dup(WORLD, &c);
	MPI_Comm_get_attr(c, key, &got, &flag);
	CHECK(flag && got == (void *)101, "copied %d %p", flag, got);
	MPI_Comm_get_attr(c, none, &got, &flag);
	CHECK_INT(flag, 0);
	MPI_Comm_get_attr(c, asks, &got, &flag);
	CHECK(flag && (intptr_t)got == size, "size in the callback: %d", (int)(intptr_t)got);
	MPI_Comm_dup(c, &d);
	MPI_Comm_get_attr(d, key, &got, &flag);
	CHECK(flag && got == (void *)102, "copied twice");
	MPI_Comm_delete_attr(c, key);
	MPI_Comm_get_attr(c, key, &got, &flag);
	CHECK_INT(flag, 0);
	MPI_Comm_free(&c);
	MPI_Comm_free(&d);
	MPI_Comm_delete_attr(WORLD, key);
	MPI_Comm_delete_attr(WORLD, none);
	MPI_Comm_delete_attr(WORLD, asks);
	printf("rank %d: %d copies, %d deletes\n", rank, copies, deletes);
	MPI_Comm_free_keyval(&key), MPI_Comm_free_keyval(&none), MPI_Comm_free_keyval(&asks);

	/* a nonblocking duplicate has them as they were at the call (MPI-4.0 section 7.4.2) */
	MPI_Request duplicating;
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(WORLD, key, (void *)1);
	MPI_Comm_idup(WORLD, &c, &duplicating);
	MPI_Comm_set_attr(WORLD, key, (void *)2);
	MPI_Wait(&duplicating, MPI_STATUS_IGNORE);
	MPI_Comm_get_attr(c, key, &got, &flag);
	CHECK(flag && got == (void *)1, "as at the call: %d %p", flag, got);
	MPI_Comm_free(&c);
	MPI_Comm_delete_attr(WORLD, key);
	MPI_Comm_free_keyval(&key);

	/* names */
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm_get_name(WORLD, name, &n);
	printf("rank %d: %s (%d)\n", rank, name, n);
	MPI_Comm_split(WORLD, rank % 2, rank, &c);
	MPI_Comm_get_name(c, name, &n);
	CHECK_INT(n, 0);
	MPI_Comm_set_name(c, "odd or even");
	MPI_Comm_get_name(c, name, &n);
	CHECK(!strcmp(name, "odd or even") && n == 11, "name %s", name);
	MPI_Comm_free(&c);

	/* error handlers go along with dup, and see the communicator that the application knows */
	MPI_Errhandler h, back;
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_dup(WORLD, &c);
	MPI_Comm_set_errhandler(c, h);
	MPI_Comm_dup(c, &d);
	MPI_Comm_get_errhandler(d, &back);
	CHECK(back == h, "handler of the dup");
	MPI_Errhandler_free(&back);
	MPI_Errhandler_free(&h);
	MPI_Send(&n, 1, MPI_INT, size + 3, 0, c);
	MPI_Recv(&n, 1, MPI_INT, size, 0, d, MPI_STATUS_IGNORE);
	MPI_Comm_call_errhandler(d, MPI_ERR_RANK);
	CHECK_INT(handled, 3);
	MPI_Comm_free(&c), MPI_Comm_free(&d);

	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, talks, &key, NULL);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_dup(WORLD, &c);
		MPI_Comm_set_attr(c, key, &n);
		MPI_Comm_free(&c);
	}
	MPI_Comm_free_keyval(&key);
	/* the caller of MPI_Comm_free hears of a callback that fails */
	MPI_Comm_dup(WORLD, &c);
	/* MPICH asks the handler of c until 3.4, then that of the world */
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL);
	MPI_Comm_set_attr(c, key, &n);
	CHECK(MPI_Comm_free(&c) != MPI_SUCCESS, "a callback that fails is not told");
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free_keyval(&key);

	/* the properties of the world */
	MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &tag_ub, &flag);
	CHECK(flag && *tag_ub >= 32767, "MPI_TAG_UB");
	int next = (rank + 1) % size, prev = (rank + size - 1) % size, ub = *tag_ub, theirs;
	MPI_Status st;
	MPI_Sendrecv(&ub, 1, MPI_INT, next, ub, &theirs, 1, MPI_INT, prev, ub, WORLD, &st);
	CHECK_INT(st.MPI_TAG, ub);
	CHECK_INT(theirs, ub);
	MPI_Comm_get_attr(WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
	MPI_Comm_get_attr(WORLD, MPI_HOST, &value, &flag);
	MPI_Comm_get_attr(WORLD, MPI_IO, &value, &flag);
	MPI_Comm_get_attr(WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
	CHECK(!flag || *value == 0 || size == 1, "clocks of two clusters are not one");
	char where[MPI_MAX_PROCESSOR_NAME];
	MPI_Get_processor_name(where, &n);
	CHECK(n > 0 && n == (int)strlen(where), "processor name");
	double t = MPI_Wtime(), tick = MPI_Wtick();
	CHECK(MPI_Wtime() >= t && tick > 0 && tick < 1, "clock");
	int major, minor, yes, provided, main_thread;
	MPI_Get_version(&major, &minor);
	MPI_Initialized(&yes);
	CHECK_INT(yes, 1);
	MPI_Finalized(&yes);
	CHECK_INT(yes, 0);
	MPI_Query_thread(&provided);
	MPI_Is_thread_main(&main_thread);
	CHECK_INT(main_thread, 1);
	printf("rank %d: MPI %d.%d, thread level %d\n", rank, major, minor, provided);
	MPI_Info info;
	MPI_Comm_get_info(WORLD, &info);
	MPI_Info_free(&info);
	leave_attributes();
	return end();
}
