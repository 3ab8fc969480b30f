/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that come back to a zipperd that was started again: how long it waits for the others, and what they hear. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

#define SHORTLY_MS 1500 /* longer than return_timeout here */
#define SOON_MS 20000

/* Joins as a rank that has lost the zipper once, and waits for nothing. */
static void come_back(struct fake_rank *r)
{
	struct zsession_params p;
	fixture_params(&p, &r->addr, r->job);
	r->join.incarnation = 1;
	r->rc = zsession_open(&r->session, &p, ZCTL_SERVICE_RANK, &r->err);
	if (r->rc == 0)
		r->rc = zsession_ask_join(r->session, &r->join, &r->err);
	if (r->rc != 0)
		fail_msg("%s", r->err.text);
}

/* The next message within so many ms. False: there is none. */
static bool hear(struct fake_rank *r, struct zctl_msg *msg, int ms)
{
	const int64_t end = fixture_now_ms() + ms;
	int rc;
	while ((rc = zsession_poll(r->session, msg, &r->err)) == 0 && fixture_now_ms() < end)
		fixture_nap(5);
	return rc > 0;
}

static void assert_waits(struct fake_rank *r)
{
	struct zctl_msg msg;
	if (hear(r, &msg, SHORTLY_MS))
		fail_msg("it does not wait: message %u: %s", msg.type, msg.type == ZCTL_ERROR ? msg.u.error.text : "");
}

/* Is told that the job is over, with this text in the reason. */
static void assert_over(struct fake_rank *r, const char *text)
{
	struct zctl_msg msg;
	if (!hear(r, &msg, SOON_MS))
		fail_msg("it hears nothing: %s", r->err.text);
	if (msg.type != ZCTL_DEAD || msg.u.dead.part == ZCTL_PART_ZIPPER || !strstr(msg.u.dead.text, text))
		fail_msg("message %u, not DEAD with '%s': '%s'", msg.type, text,
			msg.type == ZCTL_ERROR ? msg.u.error.text : msg.u.dead.text);
}

static void assert_tries_again(struct fake_rank *r)
{
	struct zctl_msg msg;
	assert_true(hear(r, &msg, SOON_MS));
	if (msg.type != ZCTL_DEAD || msg.u.dead.part != ZCTL_PART_ZIPPER)
		fail_msg("message %u, not DEAD of the zipper alone", msg.type);
}

static void assert_world(struct fake_rank *r, uint32_t vrank)
{
	struct zctl_msg msg;
	assert_true(hear(r, &msg, SOON_MS));
	if (msg.type != ZCTL_WORLD)
		fail_msg("message %u, not WORLD: %s", msg.type, msg.type == ZCTL_ERROR ? msg.u.error.text : "");
	assert_int_equal(msg.u.world.vrank, vrank);
	assert_int_equal(msg.u.world.incarnation, 1);
	zctl_free(&msg);
}

static void all_come_back(struct fake_rank r[4])
{
	for (int i = 0; i < 4; i++)
		come_back(&r[i]);
	for (uint32_t i = 0; i < 4; i++)
		assert_world(&r[i], i);
}

static void begin(struct daemon_fixture *d, struct fake_rank r[4], const char *options)
{
	daemon_start(d, TCP, options);
	job_init(r, "j", d->addr);
}

static void end(struct daemon_fixture *d, struct fake_rank r[4])
{
	for (int i = 0; i < 4; i++)
		if (r[i].session)
			fake_kill(&r[i]);
	assert_int_equal(daemon_stop(d), 0);
}

static void launch(struct zsession **launcher, struct daemon_fixture *d, uint8_t again)
{
	const struct zctl_create c = {.parts = "a,b", .sizes = {2, 2}, .join_timeout_ms = RUN_MS, .again = again};
	struct zsession_params p;
	struct zerr err;
	fixture_params(&p, d->addr, "j");
	assert_int_equal(zsession_open(launcher, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	assert_int_equal(zsession_create(*launcher, &c, &err), 0);
}

/* Each part has a rank here: the others live, and compute. */
static void ranks_that_compute_are_awaited(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, "return_timeout=1s join_timeout=1s");
	come_back(&r[0]);
	come_back(&r[2]);
	assert_waits(&r[0]);
	come_back(&r[1]);
	come_back(&r[3]);
	for (uint32_t i = 0; i < 4; i++)
		assert_world(&r[i], i);
	end(&d, r);
}

/* Nobody tells of the end of a part without a rank here. */
static void a_missing_part_is_awaited_for_a_time(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, "return_timeout=1s");
	come_back(&r[0]);
	come_back(&r[1]);
	assert_over(&r[0], "not all ranks have come back within 1 s: part b: nobody came back");
	assert_over(&r[1], "part b: nobody came back");
	end(&d, r);
}

/* Some of the others may have left. */
static void ranks_in_finalize_wait_for_a_time(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, "return_timeout=1s");
	come_back(&r[0]);
	come_back(&r[2]);
	assert_int_equal(zsession_state(r[0].session, ZCTL_STATE_FINALIZES, 0), 0);
	assert_waits(&r[0]);
	assert_int_equal(zsession_state(r[2].session, ZCTL_STATE_FINALIZES, 0), 0);
	assert_over(&r[0], "part a: rank 1 of 2 did not come back; part b: rank 1 of 2 did not come back");
	end(&d, r);
}

/* The launcher tells of ends of parts. */
static void a_launcher_lifts_the_limit(void **state)
{
	struct zctl_create c = {.parts = "a,b", .sizes = {2, 2}, .join_timeout_ms = 500, .again = 1};
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession *launcher;
	struct zsession_params p;
	struct zerr err;
	(void)state;
	begin(&d, r, "return_timeout=1s");
	fixture_params(&p, d.addr, "j");
	assert_int_equal(zsession_open(&launcher, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	assert_int_equal(zsession_create(launcher, &c, &err), 0);
	fixture_nap(SHORTLY_MS);
	come_back(&r[0]);
	assert_waits(&r[0]);
	for (int i = 1; i < 4; i++)
		come_back(&r[i]);
	for (uint32_t i = 0; i < 4; i++)
		assert_world(&r[i], i);
	end(&d, r);
	zsession_close(launcher);
}

/* Also one that comes much later, when the others have gone. */
static void all_hear_of_a_death(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, NULL);
	come_back(&r[0]);
	come_back(&r[2]);
	assert_waits(&r[0]);
	fake_kill(&r[2]);
	assert_over(&r[0], "rank 0 of part b on ");
	r[3].join.age_ms = 60000;
	r[3].join.waits = 1;
	come_back(&r[3]);
	assert_over(&r[3], "died (");
	/* a new run has another one of that name */
	struct fake_rank fresh[4];
	job_init(fresh, "j", d.addr);
	fake_join_all(fresh, 4);
	job_assert_joined(fresh, 4);
	job_bye(fresh, 4);
	end(&d, r);
}

static void all_hear_of_a_misfit(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, NULL);
	come_back(&r[0]);
	assert_waits(&r[0]);
	r[2].join.tuning = 77;
	come_back(&r[2]);
	assert_over(&r[2], "it has another tuning table");
	assert_over(&r[0], "it has another tuning table");
	end(&d, r);
}

/* It has left an attempt, not the job. */
static void others_try_again_when_one_quits(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, NULL);
	come_back(&r[0]);
	come_back(&r[2]);
	assert_waits(&r[0]);
	zsession_quit(r[2].session, "it tries again");
	r[2].session = NULL;
	assert_tries_again(&r[0]);
	fake_kill(&r[0]);
	all_come_back(r);
	end(&d, r);
}

/* Hears ERROR with this text. */
static void assert_refused(struct fake_rank *r, const char *text)
{
	struct zctl_msg msg;
	assert_true(hear(r, &msg, SOON_MS));
	assert_int_equal(msg.type, ZCTL_ERROR);
	if (!strstr(msg.u.error.text, text))
		fail_msg("'%s', not '%s'", msg.u.error.text, text);
}

/* Ranks that were left behind by an earlier run of that name. */
static void another_run_does_not_mix(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], old[4];
	uint64_t run;
	(void)state;
	begin(&d, r, NULL);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	run = r[0].world.run;
	assert_true(run != 0);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].world.run == run);
		fake_kill(&r[i]);
	}
	assert_true(daemon_logged(&d, "died"));
	job_init(r, "j", d.addr);
	job_init(old, "j", d.addr);
	for (int i = 0; i < 4; i++) {
		r[i].join.run = run;
		old[i].join.run = run ^ 1;
	}
	come_back(&r[0]);
	assert_waits(&r[0]);
	come_back(&old[1]);
	assert_refused(&old[1], "another run of job " FIXTURE_USER "/j is here");
	fake_kill(&old[1]);
	for (int i = 1; i < 4; i++)
		come_back(&r[i]);
	for (uint32_t i = 0; i < 4; i++)
		assert_world(&r[i], i);
	come_back(&old[2]);
	assert_refused(&old[2], "another run of job");
	fake_kill(&old[2]);
	end(&d, r);
}

/* A launcher begins a job: a rank that comes back is none of its ranks. */
static void another_run_does_not_take_a_new_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], old[4];
	struct zsession *launcher;
	(void)state;
	begin(&d, r, NULL);
	launch(&launcher, &d, 0);
	job_init(old, "j", d.addr);
	come_back(&old[0]);
	assert_refused(&old[0], "another job " FIXTURE_USER "/j is beginning, which has not lost this zipper");
	fake_kill(&old[0]);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	end(&d, r);
	zsession_close(launcher);
}

/* A job with another zipper goes on when this one has taken a rank for dead. So it comes back here all the same. */
static void a_death_does_not_bar_a_job_that_goes_on(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	begin(&d, r, NULL);
	come_back(&r[0]);
	come_back(&r[2]);
	assert_waits(&r[0]);
	fake_kill(&r[2]);
	assert_over(&r[0], "died (");
	fake_kill(&r[0]);
	all_come_back(r);
	end(&d, r);
}

/* Its CREATE was answered too late, and by then all ranks are here. */
static void a_launcher_that_gives_up_ends_no_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession *launcher;
	(void)state;
	begin(&d, r, NULL);
	launch(&launcher, &d, 1);
	all_come_back(r);
	zsession_close(launcher);
	for (uint32_t i = 0; i < 4; i++)
		assert_tries_again(&r[i]);
	end(&d, r);
}

/* The network was cut: the rank knows that its connection has ended, and zipperd does not. */
static void a_rank_may_come_back_twice(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], twin[4];
	(void)state;
	begin(&d, r, NULL);
	job_init(twin, "j", d.addr);
	come_back(&r[0]);
	come_back(&r[2]);
	assert_waits(&r[0]);
	come_back(&twin[0]);
	assert_refused(&twin[0], "does not fit in");
	assert_tries_again(&r[2]);
	fake_kill(&twin[0]);
	for (int i = 0; i < 4; i += 2)
		fake_kill(&r[i]);
	all_come_back(r);
	end(&d, r);
}

/* Its reason is kept for ranks that come late. */
static void a_job_that_is_over_has_no_place(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], next[4];
	(void)state;
	begin(&d, r, "max_jobs=1");
	come_back(&r[0]);
	come_back(&r[2]);
	fake_kill(&r[2]);
	assert_over(&r[0], "died (");
	fake_kill(&r[0]);
	job_init(next, "k", d.addr);
	fake_join_all(next, 4);
	job_assert_joined(next, 4);
	job_bye(next, 4);
	end(&d, r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_that_compute_are_awaited),
		cmocka_unit_test(a_missing_part_is_awaited_for_a_time),
		cmocka_unit_test(ranks_in_finalize_wait_for_a_time),
		cmocka_unit_test(a_launcher_lifts_the_limit),
		cmocka_unit_test(all_hear_of_a_death),
		cmocka_unit_test(all_hear_of_a_misfit),
		cmocka_unit_test(others_try_again_when_one_quits),
		cmocka_unit_test(another_run_does_not_mix),
		cmocka_unit_test(another_run_does_not_take_a_new_job),
		cmocka_unit_test(a_death_does_not_bar_a_job_that_goes_on),
		cmocka_unit_test(a_launcher_that_gives_up_ends_no_job),
		cmocka_unit_test(a_rank_may_come_back_twice),
		cmocka_unit_test(a_job_that_is_over_has_no_place),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
