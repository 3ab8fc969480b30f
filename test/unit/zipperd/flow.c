/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control of the real zipperd: ranks that do not receive, that have no channel yet, or that have left. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

static bool others_done(struct fake_rank *r, int n)
{
	(void)n;
	for (int i = 0; i < 2; i++)
		if (r[i].peer[3].acked < r[i].peer[3].goal)
			return false;
	return true;
}

/* Rank 2 does not receive. Messages to rank 3 from the same sources flow on, zipperd's memory is bounded, and when rank
 * 2 wakes up nothing is lost. */
static void deaf_rank(const char *listen, const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	job_start(&d, r, listen, options);
	for (int i = 0; i < 4; i++)
		r[i].max_len = 16 << 10;
	r[2].deaf = true;
	assert_int_equal(fake_attach(&r[2], 0), 0);
	/* The windows must exceed what kernel buffers and rings hold. So unsequenced fragments fill these first, until
	 * none has gone for two seconds. */
	static uint8_t junk[128 << 10];
	assert_int_equal(fake_attach(&r[0], 1), 0);
	const struct zwire_env data = {.kind = ZWIRE_DATA, .src = 0, .dst = 2, .len = sizeof(junk), .comm = 1};
	long filled = 0;
	for (int64_t end = fixture_now_ms() + 2000; fixture_now_ms() < end && filled < 24L << 20;) {
		if (fake_post(&r[0], 1, &data, junk) == 0) {
			filled += (long)sizeof(junk);
			end = fixture_now_ms() + 2000;
		} else {
			fixture_nap(1);
		}
	}
	job_set_goals(r, 4, 400);
	r[1].peer[2].goal = 3000;
	r[0].peer[2].goal = 0; /* its own fragments have stalled its channel */
	r[0].peer[3].goal = 0;
	r[2].peer[0].goal = r[2].peer[1].goal = 0;
	assert_true(fake_run(r, 4, others_done, RUN_MS));
	assert_true(r[1].peer[2].naks > 0);
	assert_true(r[1].peer[2].held > 0);
	assert_true(r[1].peer[2].acked == 0);
	r[2].deaf = false;
	r[0].peer[2].goal = r[0].peer[3].goal = 100; /* the stalled source goes on, too */
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_true(r[1].peer[2].resumes > 0);
	job_assert_good(r, 4);
	/* 24 MiB were sent, and 16 MiB may wait. Rings and buffers of the links come on top. */
	print_message("# highest resident size: %ld KiB\n", daemon_memory_kib(&d));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(daemon_memory_kib(&d) < 32 << 10);
#endif
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void deaf_rank_holds_up_nobody_over_tcp(void **state)
{
	(void)state;
	deaf_rank(TCP, "dest_share=64K memory=16M");
	deaf_rank(TCP, "dest_share=64K memory=16M threads=pair");
}

static void deaf_rank_holds_up_nobody_over_shm(void **state)
{
	(void)state;
	deaf_rank(SHM, "dest_share=64K memory=16M");
}

/* Refusals come from a worker, the request to open from the control thread: either may come first. */
static bool refused_and_asked(struct fake_rank *r, int n)
{
	(void)n;
	for (int i = 0; i < 2; i++)
		if (r[i].peer[3].goal && r[i].peer[3].naks == 0)
			return false;
	return r[3].opens > 0;
}

/* A rank without a channel is asked to open it. Until it does its messages wait, and messages beyond its share are
 * refused. */
static void messages_wait_for_a_channel(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, "dest_share=20K eager_bytes=16K");
	for (int i = 0; i < 4; i++)
		r[i].max_len = 16 << 10;
	r[3].ignores_open = true;
	r[0].peer[3].goal = r[1].peer[3].goal = 200;
	assert_true(fake_run(r, 4, refused_and_asked, RUN_MS));
	assert_int_equal(r[3].opens, 1);
	assert_int_equal(fake_attach(&r[3], 0), 0);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static bool told_bye(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].bye && r[1].peer[3].bye && r[0].peer[2].acked == 10;
}

/* Senders to a rank that has left are told so, also for messages that were waiting. */
static void messages_to_a_rank_that_left(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, "dest_share=20K eager_bytes=16K");
	r[3].ignores_open = true;
	r[0].peer[3].goal = 100;
	assert_true(fake_run(r, 4, refused_and_asked, RUN_MS));
	assert_int_equal(r[3].opens, 1);
	fake_bye(&r[3]);
	r[1].peer[3].goal = 5;
	r[0].peer[2].goal = 10;
	assert_true(fake_run(r, 4, told_bye, RUN_MS));
	job_bye(r, 3);
	assert_true(daemon_logged(&d, "job tester/j: over"));
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deaf_rank_holds_up_nobody_over_tcp),
		cmocka_unit_test(deaf_rank_holds_up_nobody_over_shm),
		cmocka_unit_test(messages_wait_for_a_channel),
		cmocka_unit_test(messages_to_a_rank_that_left),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_flow", tests, NULL, NULL);
}
