/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that say that they end without MPI_Finalize, at the real zipperd: who is told what, and when the job is over.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

struct scene {
	struct daemon_fixture d;
	struct fake_rank r[4];
};

static void begin(struct scene *s)
{
	job_start(&s->d, s->r, TCP, NULL);
}

/* All ranks die that still live, and zipperd ends well. */
static void end(struct scene *s)
{
	for (int i = 0; i < 4; i++)
		if (s->r[i].session)
			fake_kill(&s->r[i]);
	assert_int_equal(daemon_stop(&s->d), 0);
}

static void say(struct fake_rank *r, enum zctl_state_what what, uint32_t code)
{
	assert_int_equal(zsession_state(r->session, what, code), 0);
}

/* Waits for the next word of zipperd, which is a STATE. */
static struct zctl_state hear(struct fake_rank *r)
{
	struct zctl_msg msg;
	struct zerr err;
	int rc = 0;
	for (int64_t end = fixture_now_ms() + RUN_MS; rc == 0 && fixture_now_ms() < end;) {
		rc = zsession_poll(r->session, &msg, &err);
		if (rc == 0)
			fixture_nap(1);
	}
	assert_int_equal(rc, 1);
	assert_int_equal(msg.type, ZCTL_STATE);
	return msg.u.state;
}

static void all_hear(struct fake_rank *r, enum zctl_state_what what, uint32_t vrank)
{
	for (int i = 0; i < 4; i++) {
		const struct zctl_state s = hear(&r[i]);
		assert_int_equal(s.what, what);
		assert_int_equal(s.vrank, vrank);
	}
}

/* All hear of the first one; all are released when the last one is at its end, whatever the ranks do then. */
static void the_last_one_releases_all(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	say(&s.r[1], ZCTL_STATE_ENDED, 0);
	all_hear(s.r, ZCTL_STATE_ENDED, 1);
	say(&s.r[0], ZCTL_STATE_FINALIZES, 0);
	say(&s.r[3], ZCTL_STATE_WAITS, 0);
	say(&s.r[3], ZCTL_STATE_RUNS, 0);
	say(&s.r[3], ZCTL_STATE_ENDED, 0);
	say(&s.r[2], ZCTL_STATE_FINALIZES, 0);
	all_hear(s.r, ZCTL_STATE_OVER, ZWIRE_NOBODY);
	fake_kill(&s.r[0]);
	fake_kill(&s.r[1]);
	job_bye(&s.r[2], 2);
	assert_true(daemon_logged(&s.d, "job tester/j: over"));
	assert_int_equal(daemon_stop(&s.d), 0);
}

/* A rank that is gone before all are released is dead, whatever it has said. */
static void a_rank_that_does_not_stay_is_dead(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	say(&s.r[1], ZCTL_STATE_ENDED, 0);
	all_hear(s.r, ZCTL_STATE_ENDED, 1);
	fake_kill(&s.r[1]);
	assert_true(daemon_logged(&s.d, "job tester/j: rank 1 (a rank 1 on "));
	end(&s);
}

static void waiting_in_vain_ends_the_job(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	say(&s.r[3], ZCTL_STATE_ENDED, 0);
	all_hear(s.r, ZCTL_STATE_ENDED, 3);
	say(&s.r[0], ZCTL_STATE_FINALIZES, 0);
	say(&s.r[1], ZCTL_STATE_WAITS, 0);
	say(&s.r[2], ZCTL_STATE_ENDED, 0);
	assert_true(daemon_logged(&s.d, "ended without MPI_Finalize while rank 1 (a rank 1 on "));
	end(&s);
}

/* Without a rank that has ended, ranks may wait for each other as long as they like. */
static void waiting_alone_is_allowed(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	for (int i = 0; i < 4; i++)
		say(&s.r[i], ZCTL_STATE_WAITS, 0);
	fixture_nap(2500);
	for (int i = 0; i < 4; i++)
		say(&s.r[i], ZCTL_STATE_RUNS, 0);
	job_exchange(s.r, 4, 20);
	job_assert_good(s.r, 4);
	job_bye(s.r, 4);
	assert_int_equal(daemon_stop(&s.d), 0);
}

static void a_failure_ends_the_job_with_its_status(void **state)
{
	struct scene s;
	(void)state;
	begin(&s);
	say(&s.r[2], ZCTL_STATE_ENDED, 7);
	assert_true(daemon_logged(&s.d, "job tester/j: rank 2 (b rank 0 on "));
	assert_true(daemon_logged(&s.d, "ended with status 7 without MPI_Finalize"));
	end(&s);
}

/* A rank says what only zipperd may say, or speaks after its end. */
static void nonsense_ends_the_job(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct scene s;
		begin(&s);
		if (turn == 1)
			say(&s.r[2], ZCTL_STATE_ENDED, 0);
		say(&s.r[2], turn == 0 ? ZCTL_STATE_OVER : ZCTL_STATE_RUNS, 0);
		assert_true(daemon_logged(&s.d, "a control message at the wrong time"));
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_releases_all),
		cmocka_unit_test(a_rank_that_does_not_stay_is_dead),
		cmocka_unit_test(waiting_in_vain_ends_the_job),
		cmocka_unit_test(waiting_alone_is_allowed),
		cmocka_unit_test(a_failure_ends_the_job_with_its_status),
		cmocka_unit_test(nonsense_ends_the_job),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_ends", tests, NULL, NULL);
}
