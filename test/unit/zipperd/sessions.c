/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions of launchers and administrators at the real zipperd: they number ranks, hear events, see traffic. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "test/unit/within.h"
#include "test/unit/zipperd/job_fixture.h"

static int next_event(struct zsession *s, struct zctl_msg *msg)
{
	struct zerr err;
	int rc = 0;
	for (int64_t end = fixture_now_ms() + RUN_MS; rc == 0 && fixture_now_ms() < end;) {
		rc = zsession_poll(s, msg, &err);
		if (rc == 0)
			fixture_nap(1);
	}
	return rc;
}

static struct zsession *launch_mapped(const struct daemon_fixture *d, const char *job, uint32_t size,
	struct zctl_run *runs, uint32_t nruns)
{
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	struct zctl_create c = {.parts = "a,b",
		.sizes = {size, size},
		.join_timeout_ms = RUN_MS,
		.runs = runs,
		.nruns = nruns};
	fixture_params(&p, d->addr, job);
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	assert_int_equal(zsession_create(s, &c, &err), 0);
	return s;
}

static struct zsession *launch(const struct daemon_fixture *d, const char *job, uint32_t size)
{
	return launch_mapped(d, job, size, NULL, 0);
}

static void launcher_numbers_ranks(void **state)
{
	static struct zctl_run runs[] = {{0, 2, 1, 0}, {2, 1, 0, 1}, {3, 1, 0, 0}};
	static struct zctl_run twice[] = {{0, 2, 1, 0}, {2, 1, 0, 1}, {3, 1, 0, 1}};
	static const uint32_t vranks[4] = {3, 2, 0, 1};
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession *s;
	(void)state;
	daemon_start(&d, TCP, NULL);
	s = launch_mapped(&d, "j", 2, runs, 3);
	job_init_mapped(r, "j", d.addr, vranks);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 50);
	job_assert_good(r, 4);
	job_bye(r, 4);
	zsession_close(s);
	s = launch_mapped(&d, "k", 2, twice, 3);
	job_init(r, "k", d.addr);
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0);
		assert_string_equal(r[i].err.text, "the launcher's map has a rank 1 twice");
		fake_kill(&r[i]);
	}
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Any number of ranks could come to the empty part, for which the map has no vranks. */
static void launcher_may_leave_no_part_empty(void **state)
{
	static struct zctl_run run[] = {{0, 1, 0, 0}};
	struct zctl_create c = {.parts = "a,b", .sizes = {1, 0}, .join_timeout_ms = RUN_MS, .runs = run, .nruns = 1};
	struct daemon_fixture d;
	struct fake_rank r[2];
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	fixture_params(&p, d.addr, "j");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	assert_true(zsession_create(s, &c, &err) < 0);
	zsession_close(s);
	fake_init(&r[0], "j", "a,b", "a", 0, 1, d.addr);
	fake_init(&r[1], "j", "a,b", "b", 0, 1, d.addr);
	fake_join_all(r, 2);
	job_assert_joined(r, 2);
	job_bye(r, 2);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A launcher may ask for a longer time than join_timeout, within a limit. */
static void a_launcher_may_not_wait_for_days(void **state)
{
	struct zctl_create c = {.parts = "a,b", .sizes = {1, 1}, .join_timeout_ms = 7200001};
	struct daemon_fixture d;
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	(void)state;
	for (int longer = 0; longer < 2; longer++) {
		daemon_start(&d, TCP, longer ? "join_timeout=2h" : "max_join_timeout=2h");
		fixture_params(&p, d.addr, "j");
		assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
		c.join_timeout_ms = 7200001;
		assert_int_equal(zsession_create(s, &c, &err), -EINVAL);
		assert_non_null(strstr(err.text, "but at most 7200 s may be asked for (max_join_timeout"));
		zsession_close(s);
		assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
		c.join_timeout_ms = 7200000;
		assert_int_equal(zsession_create(s, &c, &err), 0);
		zsession_close(s);
		assert_int_equal(daemon_stop(&d), 0);
	}
}

static void launcher_hears_events_and_stats(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zctl_msg msg;
	struct zctl_stats_reply stats;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	struct zsession *s = launch(&d, "j", 2);
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(next_event(s, &msg), 1);
		assert_int_equal(msg.u.event.kind, ZCTL_EV_RANK_JOINED);
		assert_int_equal(msg.u.event.number, i);
	}
	assert_int_equal(next_event(s, &msg), 1);
	assert_int_equal(msg.u.event.kind, ZCTL_EV_WORLD);
	job_exchange(r, 4, 20);
	job_bye(r, 4);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(next_event(s, &msg), 1);
		assert_int_equal(msg.u.event.kind, ZCTL_EV_RANK_DONE);
	}
	assert_int_equal(zsession_stats(s, &stats, &err), 0);
	assert_int_equal(stats.ndirs, 2);
	assert_string_equal(stats.dirs[0].from, "a");
	assert_string_equal(stats.dirs[0].to, "b");
	assert_int_equal(stats.dirs[0].msgs, 80);
	assert_int_equal(stats.dirs[1].msgs, 80);
	assert_true(stats.dirs[0].bytes > 0);
	zctl_stats_free(&stats);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Asks for the status as that user. */
static void ask_status(const struct daemon_fixture *d, bool other, const char *job, struct zctl_status_reply *out)
{
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	fixture_params(&p, d->addr, job);
	if (other)
		fixture_be_other(&p);
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, &err), 0);
	assert_int_equal(zsession_status(s, out, &err), 0);
	zsession_close(s);
}

static uint64_t timed(const struct zctl_lane_status *l)
{
	uint64_t n = 0;
	for (int i = 0; i < ZCTL_LATENCIES; i++)
		n += l->latency[i];
	return n;
}

static void the_status_has_a_jobs_counters(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zctl_status_reply s;
	(void)state;
	daemon_start(&d, TCP, "administrators=other");
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 200);
	ask_status(&d, false, "", &s);
	assert_int_equal(s.all, 0);
	assert_int_equal(s.njobs, 1);
	assert_string_equal(s.job[0].id, "j");
	assert_string_equal(s.job[0].user, FIXTURE_USER);
	assert_int_equal(s.job[0].phase, ZCTL_JOB_RUNS);
	assert_int_equal(s.job[0].total, 4);
	assert_int_equal(s.job[0].joined, 4);
	assert_int_equal(s.job[0].nparts, 2);
	assert_string_equal(s.part[1].name, "b");
	assert_int_equal(s.part[1].size, 2);
	assert_int_equal(s.nlanes, 2);
	assert_int_equal(s.lane[0].msgs, 800);
	assert_int_equal(s.lane[0].queue_bytes, 0);
	assert_true(s.lane[0].envelopes >= 800);
	/* one in 64 is timed, unless eight of them wait in queues */
	assert_within(timed(&s.lane[0]), 1, s.lane[0].envelopes / 64 + 1);
	assert_int_equal(s.nworkers, 2);
	assert_true(s.worker[0].cpu_ns > 0);
	assert_int_equal(s.jobs, 1);
	assert_true(s.connections >= 9);
	zctl_status_free(&s);
	ask_status(&d, true, "", &s); /* an administrator */
	assert_int_equal(s.all, 1);
	assert_int_equal(s.njobs, 1);
	zctl_status_free(&s);
	ask_status(&d, true, "k", &s);
	assert_int_equal(s.njobs, 0);
	zctl_status_free(&s);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Waits until so many jobs are there, and all of them have ended. Fills in the status. */
static void await_ended(struct daemon_fixture *d, uint32_t njobs, struct zctl_status_reply *s)
{
	const int64_t end = fixture_now_ms() + RUN_MS;
	for (bool all = false; !all && fixture_now_ms() < end; fixture_nap(10)) {
		zctl_status_free(s);
		ask_status(d, true, "", s);
		all = s->njobs == njobs;
		for (uint32_t i = 0; i < s->njobs; i++)
			all &= s->job[i].phase == ZCTL_JOB_ENDED;
	}
	assert_int_equal(s->njobs, njobs);
}

static void jobs_that_have_ended_stay_for_a_time(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zctl_status_reply s = {0};
	(void)state;
	daemon_start(&d, TCP, "ended_time=3s administrators=nobody,other");
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_exchange(r, 4, 20);
	job_bye(r, 4);
	await_ended(&d, 1, &s);
	job_init(r, "k", d.addr);
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++)
		fake_kill(&r[i]);
	await_ended(&d, 2, &s);
	assert_string_equal(s.job[0].id, "j");
	assert_string_equal(s.job[0].text, "");
	assert_int_equal(s.job[0].done, 4);
	assert_int_equal(s.lane[0].msgs, 80);
	assert_non_null(strstr(s.job[1].text, "rank"));
	zctl_status_free(&s);
	const int64_t end = fixture_now_ms() + RUN_MS;
	for (bool gone = false; !gone && fixture_now_ms() < end; fixture_nap(10)) {
		ask_status(&d, false, "", &s);
		gone = s.njobs == 0;
		zctl_status_free(&s);
		if (gone)
			s.njobs = 0;
	}
	assert_int_equal(s.njobs, 0);
	assert_int_equal(daemon_stop(&d), 0);
}

#define MANY 300

/* More than one answer holds. */
static void many_jobs_come_in_pages(void **state)
{
	static struct zsession *launcher[MANY];
	static bool found[MANY];
	struct daemon_fixture d;
	struct zctl_status_reply s;
	char name[16];
	(void)state;
	daemon_start(&d, TCP, "max_jobs=1000 user_jobs=1000");
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "job%d", i);
		launcher[i] = launch(&d, name, 3);
	}
	ask_status(&d, false, "", &s);
	assert_int_equal(s.njobs, MANY);
	assert_int_equal(s.nparts, 2 * MANY);
	for (uint32_t i = 0; i < s.njobs; i++) {
		int n = atoi(s.job[i].id + 3);
		assert_within(n, 0, MANY - 1);
		assert_false(found[n]);
		found[n] = true;
		assert_int_equal(s.job[i].phase, ZCTL_JOB_FORMS);
		assert_int_equal(s.job[i].total, 6);
	}
	zctl_status_free(&s);
	ask_status(&d, true, "", &s); /* of another user */
	assert_int_equal(s.njobs, 0);
	assert_int_equal(s.jobs, MANY);
	zctl_status_free(&s);
	for (int i = 0; i < MANY; i++)
		zsession_close(launcher[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

static uint64_t admin_sees(const struct daemon_fixture *d, const char *user, const char *job, uint32_t *ndirs)
{
	struct zsession_params p;
	struct zsession *s;
	struct zctl_stats_reply stats;
	struct zerr err;
	uint64_t msgs = 0;
	fixture_params(&p, d->addr, job);
	strcpy(p.user, user);
	if (strcmp(user, FIXTURE_USER) != 0)
		p.key[0] = p.key[31] = 0xff; /* the fixture's other key */
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, &err), 0);
	assert_int_equal(zsession_stats(s, &stats, &err), 0);
	for (uint32_t i = 0; i < stats.ndirs; i++)
		msgs += stats.dirs[i].msgs;
	*ndirs = stats.ndirs;
	zctl_stats_free(&stats);
	zsession_close(s);
	return msgs;
}

static void admins_see_their_own_jobs(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[2][4];
	uint32_t ndirs;
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (int i = 0; i < 2; i++) {
		job_init(r[i], i ? "two" : "one", d.addr);
		fake_join_all(r[i], 4);
		job_assert_joined(r[i], 4);
		job_set_goals(r[i], 4, i ? 20 : 5);
		assert_true(fake_run(r[i], 4, fake_all_taken, RUN_MS));
	}
	assert_int_equal(admin_sees(&d, FIXTURE_USER, "", &ndirs), 8 * 25);
	assert_int_equal(ndirs, 2);
	assert_int_equal(admin_sees(&d, FIXTURE_USER, "two", &ndirs), 8 * 20);
	assert_int_equal(admin_sees(&d, FIXTURE_USER, "three", &ndirs), 0);
	assert_int_equal(ndirs, 0);
	assert_int_equal(admin_sees(&d, "other", "", &ndirs), 0);
	assert_int_equal(ndirs, 0);
	job_bye(r[0], 4);
	job_bye(r[1], 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void loss_of_the_launcher_ends_the_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	struct zsession *s = launch(&d, "j", 2);
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	zsession_close(s);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 4; i++) {
		assert_non_null(strstr(r[i].dead_text, "the launcher left"));
		fake_kill(&r[i]);
	}
	/* The name is free again at once. */
	s = launch(&d, "j", 2);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

static void ranks_must_be_what_the_launcher_started(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r;
	struct zctl_msg msg;
	(void)state;
	daemon_start(&d, TCP, NULL);
	struct zsession *s = launch(&d, "j", 2);
	fake_init(&r, "j", "a,b", "a", 0, 3, d.addr);
	fake_join_all(&r, 1);
	assert_non_null(strstr(r.err.text, "part a has 3 ranks, but the launcher started 2"));
	assert_int_equal(next_event(s, &msg), 1);
	assert_int_equal(msg.u.event.kind, ZCTL_EV_DEAD);
	fake_kill(&r);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

static int open_with_credential(const struct daemon_fixture *d, const char *of_job, const char *job,
	enum zctl_service service, uint64_t expires_s, struct zerr *err)
{
	struct zsession_params p;
	struct zsession *s = NULL;
	uint8_t key[ZAUTH_KEY_BYTES];
	fixture_params(&p, d->addr, job);
	memcpy(key, p.key, sizeof(key));
	zauth_module.derive(p.key, key, p.user, of_job, expires_s);
	p.expires_s = expires_s;
	int rc = zsession_open(&s, &p, service, err);
	zsession_close(s);
	return rc;
}

/* It serves ranks of its job until its end, and nothing else. */
static void a_job_credential_serves_ranks_of_its_job(void **state)
{
	const uint64_t now = (uint64_t)time(NULL), later = now + 3600;
	struct daemon_fixture d;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	assert_int_equal(open_with_credential(&d, "j", "j", ZCTL_SERVICE_RANK, later, &err), 0);
	assert_int_equal(open_with_credential(&d, "j", "j", ZCTL_SERVICE_CIRCUIT, later, &err), 0);
	assert_int_equal(open_with_credential(&d, "j", "k", ZCTL_SERVICE_RANK, later, &err), -EACCES);
	assert_non_null(strstr(err.text, "refuses the key of user"));
	assert_int_equal(open_with_credential(&d, "j", "j", ZCTL_SERVICE_RANK, now - 1, &err), -EACCES);
	assert_non_null(strstr(err.text, "the job credential has expired"));
	assert_int_equal(open_with_credential(&d, "j", "j", ZCTL_SERVICE_LAUNCHER, later, &err), -EACCES);
	assert_non_null(strstr(err.text, "a job credential is for ranks"));
	assert_int_equal(open_with_credential(&d, "j", "j", ZCTL_SERVICE_ADMIN, later, &err), -EACCES);
	assert_int_equal(daemon_stop(&d), 0);
}

static void a_key_that_has_expired(void **state)
{
	struct daemon_fixture d;
	struct zsession_params p;
	struct zsession *s = NULL;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	fixture_params(&p, d.addr, "j");
	strcpy(p.user, FIXTURE_EXPIRED);
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), -EACCES);
	assert_non_null(strstr(err.text, "the user's key has expired: ask for a new one"));
	/* one who does not know the key does not hear that */
	p.key[0] ^= 1;
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), -EACCES);
	assert_non_null(strstr(err.text, "refuses the key of user"));
	assert_int_equal(daemon_stop(&d), 0);
}

/* zipperd reads its keys again, of which the user's is gone: what has begun goes on, and nothing more begins. */
static void a_key_that_is_taken_out(void **state)
{
	const struct zctl_create c = {.parts = "a,b", .sizes = {1, 1}, .join_timeout_ms = RUN_MS};
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession_params p;
	struct zsession *s[2], *refused;
	struct zerr err = {""};
	char sed[100];
	(void)state;
	job_start(&d, r, TCP, NULL);
	fixture_params(&p, d.addr, "k");
	assert_int_equal(zsession_open(&s[0], &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	fixture_be_other(&p);
	assert_int_equal(zsession_open(&s[1], &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	snprintf(sed, sizeof(sed), "sed -i /" FIXTURE_USER "/d %.60s/keys", d.dir);
	assert_int_equal(system(sed), 0);
	assert_int_equal(kill(d.pid, SIGHUP), 0);
	assert_true(daemon_logged(&d, "keys and log level were read again"));
	assert_int_equal(zsession_create(s[0], &c, &err), -EACCES);
	assert_non_null(strstr(err.text, "does not know the key of user " FIXTURE_USER " any more"));
	assert_int_equal(zsession_create(s[1], &c, &err), 0);
	fixture_params(&p, d.addr, "k");
	assert_int_equal(zsession_open(&refused, &p, ZCTL_SERVICE_LAUNCHER, &err), -EACCES);
	job_exchange(r, 4, 50);
	job_assert_good(r, 4);
	job_bye(r, 4);
	for (int i = 0; i < 2; i++)
		zsession_close(s[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Nobody stays at zipperd for ever without a word. A rank has longer than others, as it joins other zippers first. */
static void nobody_stays_without_a_word(void **state)
{
	static const enum zctl_service services[] = {ZCTL_SERVICE_LAUNCHER, ZCTL_SERVICE_RANK};
	struct daemon_fixture d;
	struct zsession_params p;
	struct zctl_msg msg;
	struct zsession *s;
	struct zerr err;
	int rc;
	(void)state;
	daemon_start(&d, TCP, "hello_timeout=500ms join_timeout=1s max_join_timeout=2s");
	fixture_params(&p, d.addr, "j");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(zsession_open(&s, &p, services[i], &err), 0);
		const int64_t from = fixture_now_ms();
		while ((rc = zsession_poll(s, &msg, &err)) == 0 && fixture_now_ms() < from + RUN_MS)
			fixture_nap(5);
		assert_int_equal(rc, 1);
		assert_int_equal(msg.type, ZCTL_ERROR);
		assert_non_null(strstr(msg.u.error.text, "has waited in vain to hear what this connection is for"));
		assert_true(fixture_now_ms() - from >= (i == 0 ? 400 : 2400));
		zsession_close(s);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launcher_numbers_ranks),
		cmocka_unit_test(launcher_may_leave_no_part_empty),
		cmocka_unit_test(a_launcher_may_not_wait_for_days),
		cmocka_unit_test(launcher_hears_events_and_stats),
		cmocka_unit_test(the_status_has_a_jobs_counters),
		cmocka_unit_test(jobs_that_have_ended_stay_for_a_time),
		cmocka_unit_test(many_jobs_come_in_pages),
		cmocka_unit_test(admins_see_their_own_jobs),
		cmocka_unit_test(loss_of_the_launcher_ends_the_job),
		cmocka_unit_test(ranks_must_be_what_the_launcher_started),
		cmocka_unit_test(a_job_credential_serves_ranks_of_its_job),
		cmocka_unit_test(a_key_that_has_expired),
		cmocka_unit_test(a_key_that_is_taken_out),
		cmocka_unit_test(nobody_stays_without_a_word),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_sessions", tests, NULL, NULL);
}
