/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule engine: steps of more than one round. Messages used while they arrive, left open, watched and in flight,
 * and one to several ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/coll/across/flight.h"
#include "libzip/schedule/engine.h"
#include "test/unit/libzip/schedule_fakes.h"

static char buf[100];

/* The same to several is one step, and to one an ordinary message; the list of receivers is the schedule's own. */
static void test_multicast(void **state)
{
	(void)state;
	int dest[3] = {4, 5, 6};
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	assert_int_equal(zstep_multicast(s, buf, 10, MPI_BYTE, dest, 0, 20), MPI_SUCCESS);
	assert_int_equal(zstep_multicast(s, buf, 10, MPI_BYTE, dest, 1, 20), MPI_SUCCESS);
	zsched_round(s);
	assert_int_equal(zstep_multicast(s, buf, 30, MPI_BYTE, dest, 3, 20), MPI_SUCCESS);
	zsched_round(s);
	zstep_native(s, fakes_begin_native, NULL);
	memset(dest, 0, sizeof(dest));
	zengine_start(s);
	assert_string_equal(fakes.trace, "s");
	assert_int_equal(fakes.messages[1].peer, 4);
	fakes_complete(1, 10, MPI_SUCCESS);
	zengine_progress();
	assert_string_equal(fakes.trace, "sm");
	assert_int_equal(fakes.messages[2].peer, 6);
	assert_int_equal(fakes.messages[2].count, 30);
	fakes_complete(2, 0, MPI_ERR_OTHER); /* of any of them */
	zengine_progress();
	assert_string_equal(fakes.trace, "smn");
	fakes.native_done[1] = true;
	zengine_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_OTHER);
	assert_int_equal(fakes.released, 2);
	zsched_destroy(s);
}

/* A message that is used while it arrives. */
static void test_arriving(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	struct zarriving *a = zstep_recv_bytes(s, buf, 100, 2);
	assert_non_null(a);
	zsched_round(s);
	zstep_await(s, a, 30);
	zsched_round(s);
	zstep_native(s, fakes_begin_native, NULL);
	zstep_await(s, a, 100);
	zsched_round(s);
	zstep_call(s, fakes_work, NULL);
	zengine_start(s);
	assert_string_equal(fakes.trace, "r");
	fakes.messages[1].arrived = 29;
	zengine_progress();
	assert_string_equal(fakes.trace, "r");
	fakes.messages[1].arrived = 30;
	zengine_progress();
	assert_string_equal(fakes.trace, "rn");
	fakes.native_done[1] = true;
	fakes.messages[1].arrived = 100; /* all there, but not complete */
	zengine_progress();
	assert_string_equal(fakes.trace, "rn");
	fakes_complete(1, 100, MPI_SUCCESS);
	zengine_progress();
	assert_string_equal(fakes.trace, "rnc");
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_SUCCESS);
	zsched_destroy(s);

	/* it ends early: no rank waits for more */
	s = zsched_create(&fakes.comm, "MPI_Test");
	a = zstep_recv_bytes(s, buf, 100, 2);
	zsched_round(s);
	zstep_await(s, a, 30);
	zsched_round(s);
	zstep_await(s, a, 100);
	zengine_start(s);
	fakes_complete(2, 10, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_TRUNCATE);
	assert_int_equal(fakes.released, 2);
	zsched_destroy(s);
}

static void test_upto(void **state)
{
	(void)state;
	MPI_Count got = -1;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_recv_upto(s, buf, 100, 2, &got);
	zengine_start(s);
	fakes_complete(1, 33, MPI_SUCCESS);
	zengine_progress();
	assert_int_equal(got, 33);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_SUCCESS);
	zsched_destroy(s);
}

/* An open step does not hold its round up, and the round that closes it does wait. */
static void test_open(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_send(s, buf, 10, MPI_BYTE, 4);
	int send = zstep_open(s);
	zstep_native(s, fakes_begin_native, NULL);
	int native = zstep_open(s);
	zsched_round(s);
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_round(s);
	zstep_close(s, native);
	zstep_close(s, send);
	zsched_round(s);
	zstep_call(s, fakes_work, NULL);
	zengine_start(s);
	assert_string_equal(fakes.trace, "snr");
	fakes_complete(2, 10, MPI_SUCCESS);
	fakes.native_done[1] = true;
	zengine_progress();
	assert_string_equal(fakes.trace, "snr");
	fakes_complete(1, 10, MPI_ERR_OTHER);
	zengine_progress();
	assert_string_equal(fakes.trace, "snrc");
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_OTHER);
	assert_int_equal(fakes.released, 2);
	zsched_destroy(s);
}

/*
 * The content of an open message is seen at once, even if a round before the one that closes it never ends; the first
 * error is the result.
 */
static void test_open_error(void **state)
{
	(void)state;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zstep_open_from(s, 0);
	zsched_round(s);
	zstep_recv(s, buf, 10, MPI_BYTE, 4);
	zsched_round(s);
	zstep_close(s, 0);
	zstep_close(s, 1);
	zengine_start(s);
	assert_int_equal(fakes.nmessages, 3);
	fakes_complete(1, 5, MPI_SUCCESS);
	fakes_complete(2, 10, MPI_ERR_OTHER);
	assert_false(zsched_failed(s));
	zengine_progress();
	assert_true(zsched_failed(s));
	assert_false(zsched_request(s)->done);
	fakes_complete(3, 10, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(zsched_request(s)->status.MPI_ERROR, MPI_ERR_TRUNCATE);
	assert_int_equal(fakes.released, 3);
	zsched_destroy(s);
}

static bool look(struct zsched *s, void *arg)
{
	int *left = arg;
	(void)s;
	fakes_note("l");
	return --*left <= 0;
}

/* With depth 2 the second segment is sent before the first one is there, and the third only then. */
static void test_flight(void **state)
{
	struct zflight f;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	(void)state;
	assert_int_equal(zflight_depth(&(struct ztuning_settings){.depth = 2}, 3), 2);
	assert_int_equal(zflight_depth(&(struct ztuning_settings){.depth = 8}, 3), 3);
	assert_int_equal(zflight_init(&f, s, 2), MPI_SUCCESS);
	for (int round = 0; round < 4; round++) {
		if (round < 3) {
			zflight_begin(&f, s, round);
			zstep_send(s, buf, 1, MPI_BYTE, 1);
			zflight_end(&f, s, round);
		}
		if (round >= 1)
			assert_int_equal(zflight_land(&f, s, round - 1), MPI_SUCCESS);
		zsched_round(s);
	}
	zengine_start(s);
	zengine_progress();
	assert_int_equal(fakes.nmessages, 2);
	fakes_complete(2, 1, MPI_SUCCESS);
	zengine_progress();
	assert_int_equal(fakes.nmessages, 2);
	fakes_complete(1, 1, MPI_SUCCESS);
	zengine_progress();
	assert_int_equal(fakes.nmessages, 3);
	assert_false(zsched_request(s)->done);
	fakes_complete(3, 1, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(s)->done);
	assert_int_equal(fakes.released, 3);
	zsched_destroy(s);
}

/*
 * A watched operation is looked at in every turn until it is done; one that is left open, also while later rounds run.
 */
static void test_watch(void **state)
{
	(void)state;
	int two = 2, many = 8;
	struct zsched *s = zsched_create(&fakes.comm, "MPI_Test");
	zstep_watch(s, look, &two);
	zsched_round(s);
	zstep_watch(s, look, &many);
	int open = zstep_open(s);
	zsched_round(s);
	zstep_recv(s, buf, 10, MPI_BYTE, 3);
	zsched_round(s);
	zstep_close(s, open);
	zsched_round(s);
	zstep_call(s, fakes_work, NULL);
	zengine_start(s);
	assert_int_equal(two, 0); /* once at its start, once to see whether its round is over */
	assert_true(fakes.nmessages == 1 && many > 0);
	while (many > 0)
		zengine_progress();
	zengine_progress();
	assert_int_equal(many, 0); /* never again */
	assert_false(zsched_request(s)->done);
	fakes_complete(1, 10, MPI_SUCCESS);
	zengine_progress();
	assert_true(zsched_request(s)->done);
	zsched_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_arriving, fakes_setup),
		cmocka_unit_test_setup(test_upto, fakes_setup),
		cmocka_unit_test_setup(test_open, fakes_setup),
		cmocka_unit_test_setup(test_open_error, fakes_setup),
		cmocka_unit_test_setup(test_flight, fakes_setup),
		cmocka_unit_test_setup(test_watch, fakes_setup),
		cmocka_unit_test_setup(test_multicast, fakes_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
