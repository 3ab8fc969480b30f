/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule engine without MPI and without a bridge: fakes record what is started and are completed by the test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* alone, over fakes of everything that it calls */
#include "../../libzip/schedule.c"
#include "../../libzip/schedule_make.c"
#include "../../libzip/schedule_multicast.c"
#include "../../libzip/schedule_step.c"
#include "../../libzip/coll_flight.c"

/* The fakes: messages and native requests are numbered in the order in which they are started, from 1. */
#define MAX 32
static struct message {
	struct zreq req;
	char kind; /* 's', 'r' */
	int peer, tag;
	enum zcomm_context context;
	MPI_Count count, arrived;
} messages[MAX];
static int nmessages, nnatives, released, calls;
static bool native_done[MAX];
static char trace[256];
static int raised, fatal; /* fatal: as if the handler ended the job */

static void note(const char *what)
{
	strncat(trace, what, sizeof trace - strlen(trace) - 1);
}

static int add_message(char kind, struct zcomm *c, enum zcomm_context context, MPI_Count count, int peer, int tag,
	struct zreq **out)
{
	struct message *m = &messages[++nmessages];
	(void)c;
	memset(m, 0, sizeof *m);
	m->kind = kind;
	m->peer = peer;
	m->tag = tag;
	m->context = context;
	m->count = count;
	m->req.handle = MPI_REQUEST_NULL;
	*out = &m->req;
	note((char[]){kind, 0});
	return MPI_SUCCESS;
}

int zbridge_isend(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	int dest, int tag, enum zsend_mode mode, struct zreq **out)
{
	(void)buf, (void)type, (void)mode;
	return add_message('s', c, context, count, dest, tag, out);
}

int zbridge_irecv(struct zcomm *c, enum zcomm_context context, void *buf, MPI_Count count, MPI_Datatype type,
	int source, int tag, struct zreq **out)
{
	(void)buf, (void)type;
	return add_message('r', c, context, count, source, tag, out);
}

int zmulticast_start(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	const int *dest, int n, int tag, int64_t patience_ms, struct zreq **out)
{
	(void)buf, (void)type, (void)n, (void)patience_ms;
	return add_message('m', c, context, count, dest[n - 1], tag, out);
}

MPI_Count zbridge_arrived(const struct zreq *r)
{
	return ((const struct message *)(const void *)r)->arrived;
}

/* Messages complete with count bytes (the type is always MPI_BYTE). */
static void complete(int n, MPI_Count bytes, int error)
{
	messages[n].arrived = bytes;
	messages[n].req.status.MPI_ERROR = error;
	messages[n].req.status.count_lo = (int)bytes;
	messages[n].req.done = true;
}

struct zreq *zreq_create(const struct zreq_ops *ops, size_t bytes, struct zcomm *c)
{
	struct zreq *r = calloc(1, bytes);
	r->ops = ops;
	r->comm = c;
	r->handle = MPI_REQUEST_NULL;
	return r;
}

void zreq_release(struct zreq *r)
{
	if ((char *)r >= (char *)messages && (char *)r < (char *)(messages + MAX)) {
		released++;
		return;
	}
	r->ops->destroy(r);
	free(r);
}

void zreq_complete(struct zreq *r)
{
	r->done = true;
}

void zstatus_empty(MPI_Status *s)
{
	memset(s, 0, sizeof *s);
}

void zprogress_wait_request(struct zreq *r)
{
	while (!r->done)
		zsched_progress();
}

const struct ztype *ztype_find(MPI_Datatype t)
{
	static struct ztype byte = {.size = 1, .builtin = true};
	(void)t;
	return &byte;
}

int ztype_hold(MPI_Datatype t, MPI_Datatype *held)
{
	*held = t;
	return MPI_SUCCESS;
}

void ztype_release(MPI_Datatype held)
{
	(void)held;
}

int zcoll_op_hold(MPI_Op op)
{
	(void)op;
	return MPI_SUCCESS;
}

void zcoll_op_release(MPI_Op op)
{
	(void)op;
}

void *zpool_get(size_t bytes)
{
	return malloc(bytes);
}

void zpool_put(void *p)
{
	free(p);
}

int zerror_raise(const struct zcomm *c, int class, const char *function, const char *fmt, ...)
{
	(void)c, (void)function, (void)fmt;
	raised = class;
	return class;
}

void zerror_raise_if_fatal(const struct zcomm *c, int class, const char *function, const char *text)
{
	(void)c, (void)function, (void)text;
	fatal = class;
}

bool zerror_differ;

void zerror_hush_world(void)
{
}

void zerror_unhush_world(void)
{
}

bool zerror_is_predefined(MPI_Errhandler e)
{
	return e == MPI_ERRORS_RETURN;
}

/* What the native library would call; handlers got are as many as are freed. */
#define HANDLER ((MPI_Errhandler)77)
static MPI_Errhandler handler = MPI_ERRORS_RETURN;
static int handled, handlers_held;

static int fake_get_handler(MPI_Comm c, MPI_Errhandler *e)
{
	(void)c;
	*e = handler;
	handlers_held += handler == HANDLER;
	return MPI_SUCCESS;
}

static int fake_set_handler(MPI_Comm c, MPI_Errhandler e)
{
	(void)c;
	handler = e;
	return MPI_SUCCESS;
}

static int fake_free_handler(MPI_Errhandler *e)
{
	assert_true(*e == HANDLER);
	handlers_held--;
	return MPI_SUCCESS;
}

__thread int zshim_depth __attribute__((tls_model("initial-exec")));
__thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
bool zshim_threaded;

static int fake_test(MPI_Request *r, int *flag, MPI_Status *s)
{
	(void)s;
	*flag = native_done[(int)*r];
	if (*flag)
		*r = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

static int fake_elements(const MPI_Status *s, MPI_Datatype t, MPI_Count *n)
{
	(void)t;
	*n = s->count_lo;
	return MPI_SUCCESS;
}

static int fake_class(int code, int *class)
{
	*class = code;
	return MPI_SUCCESS;
}

static int fake_string(int code, char *text, int *len)
{
	*len = sprintf(text, "error %d", code);
	return MPI_SUCCESS;
}

struct znative zn;

static struct zcomm comm, other;

static int setup(void **state)
{
	(void)state;
	zn.Test = fake_test;
	zn.Get_elements_x = fake_elements;
	zn.Error_class = fake_class;
	zn.Error_string = fake_string;
	zn.Comm_get_errhandler = fake_get_handler;
	zn.Comm_set_errhandler = fake_set_handler;
	zn.Errhandler_free = fake_free_handler;
	memset(&comm, 0, sizeof comm);
	memset(&other, 0, sizeof other);
	comm.coll_seq = other.coll_seq = 7;
	nmessages = nnatives = released = calls = raised = fatal = 0;
	memset(native_done, 0, sizeof native_done);
	trace[0] = 0;
	return 0;
}

static int begin_native(void *arg, MPI_Request *r)
{
	(void)arg;
	*r = (MPI_Request)++nnatives;
	note("n");
	return MPI_SUCCESS;
}

static int fail_native(void *arg, MPI_Request *r)
{
	(void)arg, (void)r;
	note("f");
	handled += handler == HANDLER;
	return MPI_ERR_OP;
}

static int work(struct zsched *s, void *arg)
{
	(void)s;
	note(arg ? arg : "c");
	calls++;
	return MPI_SUCCESS;
}

static char buf[100];

/* All of a round are started in order, the next one when all are complete. */
static void test_rounds(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_send(s, buf, 20, MPI_BYTE, 4);
	zsched_native(s, begin_native, NULL);
	zsched_round(s);
	zsched_round(s); /* empty rounds are nothing */
	zsched_call(s, work, NULL);
	zsched_native(s, begin_native, NULL);
	zsched_start(s);
	assert_string_equal(trace, "rsn");
	assert_int_equal(messages[1].tag, 7);
	assert_int_equal(messages[1].context, ZCOMM_COLL);
	assert_int_equal(messages[1].peer, 3);
	complete(1, 10, MPI_SUCCESS);
	native_done[1] = true;
	zsched_progress();
	assert_string_equal(trace, "rsn");
	complete(2, 20, MPI_SUCCESS);
	zsched_progress();
	assert_string_equal(trace, "rsncn");
	assert_false(zsched_request(s)->done);
	native_done[2] = true;
	assert_true(zsched_progress());
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_SUCCESS);
	assert_int_equal(released, 2);
	assert_false(zsched_progress());
	zsched_destroy(s);
}

/* Schedules of one communicator one after the other, those of another one independent. */
static void test_queue(void **state)
{
	(void)state;
	struct zsched *a = zsched_create(&comm, "a"), *b = zsched_create(&comm, "b"), *c = zsched_create(&other, "c"),
		      *d = zsched_create(&comm, "d");
	zsched_native(a, begin_native, NULL);
	zsched_send(b, buf, 1, MPI_BYTE, 1);
	zsched_recv(c, buf, 1, MPI_BYTE, 1);
	zsched_detach(d, ZCOMM_INTERNAL, 99);
	zsched_send(d, buf, 1, MPI_BYTE, 5);
	zsched_start(a);
	zsched_start(b);
	zsched_start(c);
	zsched_start(d);
	assert_string_equal(trace, "nrs");
	assert_int_equal(messages[2].tag, 99);
	assert_int_equal(messages[2].context, ZCOMM_INTERNAL);
	complete(1, 1, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(c)->done);
	assert_string_equal(trace, "nrs");
	native_done[1] = true;
	zsched_progress(); /* a ends, b starts in the same turn */
	assert_true(zsched_request(a)->done);
	assert_string_equal(trace, "nrss");
	assert_int_equal(messages[3].tag, 8);
	complete(3, 1, MPI_SUCCESS);
	complete(2, 1, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(b)->done);
	assert_true(zsched_request(d)->done);
	assert_null(comm.coll_head);
	assert_null(comm.coll_tail);
	zsched_destroy(a);
	zsched_destroy(b);
	zsched_destroy(c);
	zsched_destroy(d);
}

static void on_done(void *arg, int *error)
{
	*(int *)arg = *error;
}

/* After an error the rest is still done, because others count on it; the first error is the result. */
static void test_errors(void **state)
{
	(void)state;
	int seen = -1;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_round(s);
	zsched_native(s, fail_native, NULL);
	zsched_round(s);
	zsched_native(s, begin_native, NULL);
	zsched_on_done(s, on_done, &seen);
	zsched_start(s);
	complete(1, 4, MPI_SUCCESS); /* fewer than expected */
	zsched_progress();
	assert_string_equal(trace, "rfn");
	assert_true(zsched_failed(s));
	native_done[1] = true;
	zsched_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_TRUNCATE);
	assert_int_equal(seen, MPI_ERR_TRUNCATE);
	zsched_destroy(s);

	/* where errors end the job it does not wait for what may never come */
	s = zsched_create(&comm, "MPI_Test");
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_recv(s, buf + 10, 10, MPI_BYTE, 2);
	zsched_start(s);
	assert_int_equal(fatal, 0);
	complete(2, 4, MPI_SUCCESS);
	zsched_progress();
	assert_false(zsched_request(s)->done);
	assert_int_equal(fatal, MPI_ERR_TRUNCATE);
	complete(3, 10, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(s)->done);
	zsched_destroy(s);

	/* blocking: through the error handler, once; not where the native library has called it */
	s = zsched_create(&comm, "MPI_Test");
	zsched_native(s, fail_native, NULL);
	assert_int_equal(zsched_run(s), MPI_ERR_OP);
	assert_int_equal(raised, 0);
	s = zsched_create(&comm, "MPI_Test");
	zsched_fail(s, MPI_ERR_NO_MEM, "out of memory");
	assert_int_equal(zsched_run(s), MPI_ERR_NO_MEM);
	assert_int_equal(raised, MPI_ERR_NO_MEM);
	raised = 0;

	/* natively once, too, however many native steps fail */
	handler = HANDLER;
	handled = 0;
	s = zsched_create(&comm, "MPI_Test");
	zsched_native(s, fail_native, NULL);
	zsched_native(s, fail_native, NULL);
	zsched_round(s);
	zsched_native(s, fail_native, NULL);
	assert_int_equal(zsched_run(s), MPI_ERR_OP);
	assert_int_equal(handled, 1);
	assert_int_equal(raised, 0);
	assert_true(handler == HANDLER);
	assert_int_equal(handlers_held, 0);
	handler = MPI_ERRORS_RETURN;
}

static int grow(struct zsched *s, void *arg)
{
	int *left = arg;
	calls++;
	if (--*left > 0) {
		for (int i = 0; i < 20; i++) /* the steps move in memory */
			zsched_call(s, work, "");
		zsched_round(s);
		zsched_call(s, grow, left);
	}
	return MPI_SUCCESS;
}

/* A call may add rounds; they come after those that are there. */
static void test_growth(void **state)
{
	(void)state;
	int left = 5;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_call(s, grow, &left);
	zsched_round(s);
	zsched_call(s, work, "x");
	zsched_start(s);
	assert_true(zsched_request(s)->done);
	assert_int_equal(left, 0);
	assert_int_equal(calls, 5 + 4 * 20 + 1);
	assert_string_equal(trace, "x");
	for (size_t n = 1; n < 100000; n *= 3) {
		char *p = zsched_alloc(s, n);
		assert_int_equal((uintptr_t)p % sizeof(long double), 0);
		memset(p, 1, n);
	}
	zsched_destroy(s);
}

/* The same to several is one step, and to one an ordinary message; the list of receivers is the schedule's own. */
static void test_multicast(void **state)
{
	(void)state;
	int dest[3] = {4, 5, 6};
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	assert_int_equal(zsched_multicast(s, buf, 10, MPI_BYTE, dest, 0, 20), MPI_SUCCESS);
	assert_int_equal(zsched_multicast(s, buf, 10, MPI_BYTE, dest, 1, 20), MPI_SUCCESS);
	zsched_round(s);
	assert_int_equal(zsched_multicast(s, buf, 30, MPI_BYTE, dest, 3, 20), MPI_SUCCESS);
	zsched_round(s);
	zsched_native(s, begin_native, NULL);
	memset(dest, 0, sizeof(dest));
	zsched_start(s);
	assert_string_equal(trace, "s");
	assert_int_equal(messages[1].peer, 4);
	complete(1, 10, MPI_SUCCESS);
	zsched_progress();
	assert_string_equal(trace, "sm");
	assert_int_equal(messages[2].peer, 6);
	assert_int_equal(messages[2].count, 30);
	complete(2, 0, MPI_ERR_OTHER); /* of any of them */
	zsched_progress();
	assert_string_equal(trace, "smn");
	native_done[1] = true;
	zsched_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_OTHER);
	assert_int_equal(released, 2);
	zsched_destroy(s);
}

/* A message that is used while it arrives. */
static void test_arriving(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	struct zarriving *a = zsched_recv_bytes(s, buf, 100, 2);
	assert_non_null(a);
	zsched_round(s);
	zsched_await(s, a, 30);
	zsched_round(s);
	zsched_native(s, begin_native, NULL);
	zsched_await(s, a, 100);
	zsched_round(s);
	zsched_call(s, work, NULL);
	zsched_start(s);
	assert_string_equal(trace, "r");
	messages[1].arrived = 29;
	zsched_progress();
	assert_string_equal(trace, "r");
	messages[1].arrived = 30;
	zsched_progress();
	assert_string_equal(trace, "rn");
	native_done[1] = true;
	messages[1].arrived = 100; /* all there, but not complete */
	zsched_progress();
	assert_string_equal(trace, "rn");
	complete(1, 100, MPI_SUCCESS);
	zsched_progress();
	assert_string_equal(trace, "rnc");
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_SUCCESS);
	zsched_destroy(s);

	/* it ends early: nobody waits for more */
	s = zsched_create(&comm, "MPI_Test");
	a = zsched_recv_bytes(s, buf, 100, 2);
	zsched_round(s);
	zsched_await(s, a, 30);
	zsched_round(s);
	zsched_await(s, a, 100);
	zsched_start(s);
	complete(2, 10, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_TRUNCATE);
	assert_int_equal(released, 2);
	zsched_destroy(s);
}

static void test_upto(void **state)
{
	(void)state;
	MPI_Count got = -1;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_recv_upto(s, buf, 100, 2, &got);
	zsched_start(s);
	complete(1, 33, MPI_SUCCESS);
	zsched_progress();
	assert_int_equal(got, 33);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_SUCCESS);
	zsched_destroy(s);
}

/* An open step does not hold its round up, and the round that closes it does wait. */
static void test_open(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_send(s, buf, 10, MPI_BYTE, 4);
	int send = zsched_open(s);
	zsched_native(s, begin_native, NULL);
	int native = zsched_open(s);
	zsched_round(s);
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_round(s);
	zsched_close(s, native);
	zsched_close(s, send);
	zsched_round(s);
	zsched_call(s, work, NULL);
	zsched_start(s);
	assert_string_equal(trace, "snr");
	complete(2, 10, MPI_SUCCESS);
	native_done[1] = true;
	zsched_progress();
	assert_string_equal(trace, "snr");
	complete(1, 10, MPI_ERR_OTHER);
	zsched_progress();
	assert_string_equal(trace, "snrc");
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_OTHER);
	assert_int_equal(released, 2);
	zsched_destroy(s);
}

/* What an open message tells is seen at once, although a round before the one that closes it never ends; the first
 * error is the result. */
static void test_open_error(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_open_from(s, 0);
	zsched_round(s);
	zsched_recv(s, buf, 10, MPI_BYTE, 4);
	zsched_round(s);
	zsched_close(s, 0);
	zsched_close(s, 1);
	zsched_start(s);
	assert_int_equal(nmessages, 3);
	complete(1, 5, MPI_SUCCESS);
	complete(2, 10, MPI_ERR_OTHER);
	assert_false(zsched_failed(s));
	zsched_progress();
	assert_true(zsched_failed(s));
	assert_false(zsched_request(s)->done);
	complete(3, 10, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_TRUNCATE);
	assert_int_equal(released, 3);
	zsched_destroy(s);
}

static bool look(struct zsched *s, void *arg)
{
	int *left = arg;
	(void)s;
	note("l");
	return --*left <= 0;
}

/* With depth 2 the second segment is sent before the first one is there, and the third only then. */
static void test_flight(void **state)
{
	struct zflight f;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	(void)state;
	assert_int_equal(zflight_depth(&(struct ztuning_settings){.depth = 2}, 3), 2);
	assert_int_equal(zflight_depth(&(struct ztuning_settings){.depth = 8}, 3), 3);
	assert_int_equal(zflight_init(&f, s, 2), MPI_SUCCESS);
	for (int round = 0; round < 4; round++) {
		if (round < 3) {
			zflight_begin(&f, s, round);
			zsched_send(s, buf, 1, MPI_BYTE, 1);
			zflight_end(&f, s, round);
		}
		if (round >= 1)
			assert_int_equal(zflight_land(&f, s, round - 1), MPI_SUCCESS);
		zsched_round(s);
	}
	zsched_start(s);
	zsched_progress();
	assert_int_equal(nmessages, 2);
	complete(2, 1, MPI_SUCCESS);
	zsched_progress();
	assert_int_equal(nmessages, 2);
	complete(1, 1, MPI_SUCCESS);
	zsched_progress();
	assert_int_equal(nmessages, 3);
	assert_false(zsched_request(s)->done);
	complete(3, 1, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(released, 3);
	zsched_destroy(s);
}

/* What is watched is looked at in every turn until it says so; left open, also while later rounds run. */
static void test_watch(void **state)
{
	(void)state;
	int two = 2, many = 8;
	struct zsched *s = zsched_create(&comm, "MPI_Test");
	zsched_watch(s, look, &two);
	zsched_round(s);
	zsched_watch(s, look, &many);
	int open = zsched_open(s);
	zsched_round(s);
	zsched_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_round(s);
	zsched_close(s, open);
	zsched_round(s);
	zsched_call(s, work, NULL);
	zsched_start(s);
	assert_int_equal(two, 0); /* once at its start, once to see whether its round is over */
	assert_true(nmessages == 1 && many > 0);
	while (many > 0)
		zsched_progress();
	zsched_progress();
	assert_int_equal(many, 0); /* never again */
	assert_false(zsched_request(s)->done);
	complete(1, 10, MPI_SUCCESS);
	zsched_progress();
	assert_true(zsched_request(s)->done);
	zsched_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rounds, setup),
		cmocka_unit_test_setup(test_queue, setup),
		cmocka_unit_test_setup(test_errors, setup),
		cmocka_unit_test_setup(test_growth, setup),
		cmocka_unit_test_setup(test_arriving, setup),
		cmocka_unit_test_setup(test_upto, setup),
		cmocka_unit_test_setup(test_open, setup),
		cmocka_unit_test_setup(test_open_error, setup),
		cmocka_unit_test_setup(test_flight, setup),
		cmocka_unit_test_setup(test_watch, setup),
		cmocka_unit_test_setup(test_multicast, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
