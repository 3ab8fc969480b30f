/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule engine: rounds, schedules after each other, errors, and schedules that grow while they run. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/libzip/schedule_fakes.h"
#include "libzip/schedule/engine.h"

static char buf[100];

/* All of a round are started in order, the next one when all are complete. */
static void test_rounds(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zstep_send(s, buf, 20, MPI_BYTE, 4);
	zstep_native(s, fakes_begin_native, NULL);
	zsched_round(s);
	zsched_round(s); /* empty rounds are nothing */
	zstep_call(s, fakes_work, NULL);
	zstep_native(s, fakes_begin_native, NULL);
	zengine_start(s);
	assert_string_equal(fakes.trace, "rsn");
	assert_int_equal(fakes.messages[1].tag, 7);
	assert_int_equal(fakes.messages[1].context, ZCOMM_COLL);
	assert_int_equal(fakes.messages[1].peer, 3);
	fakes_complete(1, 10, MPI_SUCCESS);
	fakes.native_done[1] = true;
	zengine_progress();
	assert_string_equal(fakes.trace, "rsn");
	fakes_complete(2, 20, MPI_SUCCESS);
	zengine_progress();
	assert_string_equal(fakes.trace, "rsncn");
	assert_false(zsched_request(s)->done);
	fakes.native_done[2] = true;
	assert_true(zengine_progress());
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_SUCCESS);
	assert_int_equal(fakes.released, 2);
	assert_false(zengine_progress());
	zsched_destroy(s);
}

/* Schedules of one communicator run one after the other, schedules of another one independently. */
static void test_queue(void **state)
{
	(void)state;
	struct zsched *a = zsched_create(&fakes.comm, "a"), *b = zsched_create(&fakes.comm, "b"),
		      *c = zsched_create(&fakes.other, "c"), *d = zsched_create(&fakes.comm, "d");
	zstep_native(a, fakes_begin_native, NULL);
	zstep_send(b, buf, 1, MPI_BYTE, 1);
	zstep_recv(c, buf, 1, MPI_BYTE, 1);
	zsched_detach(d, ZCOMM_INTERNAL, 99);
	zstep_send(d, buf, 1, MPI_BYTE, 5);
	zengine_start(a);
	zengine_start(b);
	zengine_start(c);
	zengine_start(d);
	assert_string_equal(fakes.trace, "nrs");
	assert_int_equal(fakes.messages[2].tag, 99);
	assert_int_equal(fakes.messages[2].context, ZCOMM_INTERNAL);
	fakes_complete(1, 1, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(c)->done);
	assert_string_equal(fakes.trace, "nrs");
	fakes.native_done[1] = true;
	zengine_progress(); /* a ends, b starts in the same turn */
	assert_true(zsched_request(a)->done);
	assert_string_equal(fakes.trace, "nrss");
	assert_int_equal(fakes.messages[3].tag, 8);
	fakes_complete(3, 1, MPI_SUCCESS);
	fakes_complete(2, 1, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(b)->done);
	assert_true(zsched_request(d)->done);
	assert_null(fakes.comm.coll_head);
	assert_null(fakes.comm.coll_tail);
	zsched_destroy(a);
	zsched_destroy(b);
	zsched_destroy(c);
	zsched_destroy(d);
}

static void on_done(void *arg, int *error)
{
	*(int *)arg = *error;
}

static bool fail_on_board(struct zsched *s, void *arg)
{
	(void)arg;
	zsched_fail(s, MPI_ERR_TRUNCATE, "different");
	return true;
}

static int fail_in_call(struct zsched *s, void *arg)
{
	(void)s, (void)arg;
	return MPI_ERR_TRUNCATE;
}

/* After any failure, and even if a message is missing. */
static void ends_at_once(bool (*look)(struct zsched *, void *), int (*fn)(struct zsched *, void *))
{
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	if (look)
		zstep_watch(s, look, NULL);
	else
		zstep_call(s, fn, NULL);
	fakes.fatal = 0;
	zengine_start(s);
	assert_false(zsched_request(s)->done);
	assert_int_equal(fakes.fatal, MPI_ERR_TRUNCATE);
	fakes_complete(fakes.nmessages, 10, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(s)->done);
	zsched_destroy(s);
}

/* After an error the rest is still done, because others count on it; the first error is the result. */
static void test_errors(void **state)
{
	(void)state;
	int seen = -1;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_round(s);
	zstep_native(s, fakes_fail_native, NULL);
	zsched_round(s);
	zstep_native(s, fakes_begin_native, NULL);
	zsched_on_done(s, on_done, &seen);
	zengine_start(s);
	fakes.messages[1].req.status.MPI_SOURCE = 3;
	fakes_complete(1, 4, MPI_SUCCESS); /* fewer than expected */
	zengine_progress();
	assert_string_equal(zsched_error_text(s), "members gave different amounts of data: 4 bytes came from rank 3, "
						  "and 10 were expected");
	assert_string_equal(fakes.trace, "rfn");
	assert_true(zsched_failed(s));
	fakes.native_done[1] = true;
	zengine_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_TRUNCATE);
	assert_int_equal(seen, MPI_ERR_TRUNCATE);
	assert_int_equal(fakes.fatal, MPI_ERR_TRUNCATE); /* persistent ones, too */
	fakes.fatal = 0;
	zsched_destroy(s);

	/* where errors end the job it does not wait for what may never come */
	s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zstep_recv(s, buf + 10, 10, MPI_BYTE, 2);
	zengine_start(s);
	assert_int_equal(fakes.fatal, 0);
	fakes_complete(2, 4, MPI_SUCCESS);
	zengine_progress();
	assert_false(zsched_request(s)->done);
	assert_int_equal(fakes.fatal, MPI_ERR_TRUNCATE);
	fakes_complete(3, 10, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(s)->done);
	zsched_destroy(s);
	ends_at_once(fail_on_board, NULL);
	ends_at_once(NULL, fail_in_call);

	/* blocking: through the error handler, once; not where the native library has called it */
	s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_native(s, fakes_fail_native, NULL);
	assert_int_equal(zengine_run(s), MPI_ERR_OP);
	assert_int_equal(fakes.raised, 0);
	s = zsched_create(&fakes.comm, "MPI_Test");
	zsched_fail(s, MPI_ERR_NO_MEM, "out of memory");
	assert_int_equal(zengine_run(s), MPI_ERR_NO_MEM);
	assert_int_equal(fakes.raised, MPI_ERR_NO_MEM);
	fakes.raised = 0;

	/* natively once, too, however many native steps fail */
	fakes.handler = FAKES_HANDLER;
	fakes.handled = 0;
	s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_native(s, fakes_fail_native, NULL);
	zstep_native(s, fakes_fail_native, NULL);
	zsched_round(s);
	zstep_native(s, fakes_fail_native, NULL);
	assert_int_equal(zengine_run(s), MPI_ERR_OP);
	assert_int_equal(fakes.handled, 1);
	assert_int_equal(fakes.raised, 0);
	assert_true(fakes.handler == FAKES_HANDLER);
	assert_int_equal(fakes.handlers_held, 0);
	fakes.handler = MPI_ERRORS_RETURN;
}

static int grow(struct zsched *s, void *arg)
{
	int *left = arg;
	fakes.calls++;
	if (--*left > 0) {
		for (int i = 0; i < 20; i++) /* the steps move in memory */
			zstep_call(s, fakes_work, "");
		zsched_round(s);
		zstep_call(s, grow, left);
	}
	return MPI_SUCCESS;
}

/* A call may add rounds; they come after those that are there. */
static void test_growth(void **state)
{
	(void)state;
	int left = 5;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_call(s, grow, &left);
	zsched_round(s);
	zstep_call(s, fakes_work, "x");
	zengine_start(s);
	assert_true(zsched_request(s)->done);
	assert_int_equal(left, 0);
	assert_int_equal(fakes.calls, 5 + 4 * 20 + 1);
	assert_string_equal(fakes.trace, "x");
	for (size_t n = 1; n < 100000; n *= 3) {
		char *p = zsched_alloc(s, n);
		assert_int_equal((uintptr_t)p % sizeof(long double), 0);
		memset(p, 1, n);
	}
	zsched_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rounds, fakes_setup),
		cmocka_unit_test_setup(test_queue, fakes_setup),
		cmocka_unit_test_setup(test_errors, fakes_setup),
		cmocka_unit_test_setup(test_growth, fakes_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
