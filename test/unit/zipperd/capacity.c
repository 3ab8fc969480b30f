/* SPDX-License-Identifier: BSD-3-Clause */
/* The real zipperd with too many connections: no connection waits without end, or without a word. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

#define JOBS 2
#define FULL "has all its 8 connections (max_connections)"

static bool is_over(struct fake_rank *r)
{
	return fake_all_dead(r, 4) || fake_all_taken(r, 4);
}

static bool all_over(struct fake_rank *r, int n)
{
	bool over = true;
	for (int i = 0; i < n; i += 4)
		over &= is_over(&r[i]);
	return over;
}

static void what_fits_exactly_is_served(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, "max_connections=8 user_connections=99");
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void what_can_never_fit_is_refused_at_once(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, "max_connections=11 user_connections=99");
	job_init(r, "endpoints", d.addr);
	for (int i = 0; i < 4; i++)
		r[i].join.endpoints = 2;
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(r[i].rc < 0, 1);
		assert_non_null(
			strstr(r[i].err.text, "4 ranks may need 12 connections, but max_connections is 11 here"));
		fake_kill(&r[i]);
	}
	/* In a mixed job the sizes of the parts are known only when all ranks have joined. */
	for (uint32_t i = 0; i < 4; i++) {
		fake_init(&r[i], "mixed", "a,b,c", i < 2 ? "a" : i < 3 ? "b" : "c", i, 4, d.addr);
		r[i].join.mixed = 1;
	}
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(r[i].rc < 0, 1);
		assert_non_null(strstr(r[i].err.text, "4 ranks may need 12 connections"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* Two jobs have all connections for control, and each waits for data connections. */
static void jobs_that_wait_for_each_other_end(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4 * JOBS], late;
	int ndead = 0;
	(void)state;
	daemon_start(&d, TCP, "max_connections=8 user_connections=99");
	for (int k = 0; k < JOBS; k++) {
		job_init(&r[4 * k], k ? "second" : "first", d.addr);
		fake_join_all(&r[4 * k], 4);
		job_assert_joined(&r[4 * k], 4);
	}
	/* A rank that comes now is told so as well. */
	fake_init(&late, "late", "a,b", "a", 0, 1, d.addr);
	fake_join_all(&late, 1);
	assert_int_equal(late.rc < 0, 1);
	assert_non_null(strstr(late.err.text, FULL));
	fake_kill(&late);
	for (int k = 0; k < JOBS; k++)
		job_set_goals(&r[4 * k], 4, 100);
	assert_true(fake_run(r, 4 * JOBS, all_over, RUN_MS));
	for (int i = 0; i < 4 * JOBS; i++) {
		ndead += r[i].dead;
		if (!r[i].dead)
			continue;
		assert_non_null(strstr(r[i].dead_text, "no data connection for rank "));
		assert_non_null(strstr(r[i].dead_text, FULL));
	}
	assert_true(ndead >= 4);
	for (int i = 0; i < 4 * JOBS; i++)
		fake_kill(&r[i]);
	/* And then there is room again. */
	job_init(r, "next", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* The ranks of the job compute and do not hear that another rank has died. They have some seconds for that. */
static void a_dead_job_makes_room_in_time(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], next[4];
	(void)state;
	job_start(&d, r, TCP, "max_connections=8 user_connections=99");
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	fake_kill(&r[0]);
	fixture_nap(300);
	job_init(next, "next", d.addr);
	fake_join_all(next, 4);
	job_assert_joined(next, 4);
	job_set_goals(next, 4, 100);
	assert_true(fake_run(next, 4, all_over, RUN_MS));
	job_assert_good(next, 4);
	job_bye(next, 4);
	for (int i = 1; i < 4; i++)
		fake_kill(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_exactly_is_served),
		cmocka_unit_test(what_can_never_fit_is_refused_at_once),
		cmocka_unit_test(jobs_that_wait_for_each_other_end),
		cmocka_unit_test(a_dead_job_makes_room_in_time),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_room", tests, NULL, NULL);
}
