/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that ranks publish, at the real zipperd: each job has its own, and bad questions end the job of the rank alone.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

/* Asks, and returns the answer in q. */
static enum zctl_naming_answer ask(struct fake_rank *r, struct zctl_naming *q)
{
	static uint32_t number;
	struct zctl_msg msg;
	struct zerr err;
	int rc = 0;
	q->number = ++number;
	assert_int_equal(zsession_naming(r->session, q), 0);
	for (int64_t end = fixture_now_ms() + RUN_MS; rc == 0 && fixture_now_ms() < end;) {
		rc = zsession_poll(r->session, &msg, &err);
		if (rc == 0)
			fixture_nap(1);
	}
	assert_int_equal(rc, 1);
	assert_int_equal(msg.type, ZCTL_NAMING);
	assert_int_equal(msg.u.naming.number, number);
	assert_int_equal(msg.u.naming.what, q->what);
	*q = msg.u.naming;
	return msg.u.naming.answer;
}

static enum zctl_naming_answer publish(struct fake_rank *r, const char *name, const char *port)
{
	struct zctl_naming q = {.what = ZCTL_NAMING_PUBLISH};
	snprintf(q.service, sizeof(q.service), "%s", name);
	snprintf(q.port, sizeof(q.port), "%s", port);
	return ask(r, &q);
}

static enum zctl_naming_answer look_up(struct fake_rank *r, const char *name, uint32_t vrank, const char *port)
{
	struct zctl_naming q = {.what = ZCTL_NAMING_LOOKUP};
	snprintf(q.service, sizeof(q.service), "%s", name);
	enum zctl_naming_answer answer = ask(r, &q);
	if (answer == ZCTL_NAMING_DONE) {
		assert_int_equal(q.vrank, vrank);
		assert_string_equal(q.port, port);
	}
	return answer;
}

static void start_two_jobs(struct daemon_fixture *d, struct fake_rank *one, struct fake_rank *other)
{
	daemon_start(d, TCP, NULL);
	job_init(one, "one", d->addr);
	job_init(other, "other", d->addr);
	fake_join_all(one, 4);
	fake_join_all(other, 4);
	job_assert_joined(one, 4);
	job_assert_joined(other, 4);
}

static void each_job_has_its_own(void **state)
{
	struct daemon_fixture d;
	struct fake_rank one[4], other[4];
	(void)state;
	start_two_jobs(&d, one, other);
	assert_int_equal(publish(&one[1], "name", "port 1"), ZCTL_NAMING_DONE);
	assert_int_equal(look_up(&one[3], "name", 1, "port 1"), ZCTL_NAMING_DONE);
	assert_int_equal(look_up(&other[3], "name", 0, ""), ZCTL_NAMING_UNKNOWN);
	assert_int_equal(publish(&other[2], "name", "port 2"), ZCTL_NAMING_DONE);
	assert_int_equal(look_up(&one[0], "name", 1, "port 1"), ZCTL_NAMING_DONE);
	job_bye(one, 4);
	assert_int_equal(look_up(&other[0], "name", 2, "port 2"), ZCTL_NAMING_DONE);
	job_bye(other, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A name stays when its rank has left, as natively. A later job of that name has none of them. */
static void names_end_with_the_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, NULL);
	assert_int_equal(publish(&r[0], "name", "port"), ZCTL_NAMING_DONE);
	job_bye(r, 1);
	assert_int_equal(look_up(&r[3], "name", 0, "port"), ZCTL_NAMING_DONE);
	job_bye(r + 1, 3);
	assert_true(daemon_logged(&d, "job tester/j: over"));
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	assert_int_equal(look_up(&r[3], "name", 0, ""), ZCTL_NAMING_UNKNOWN);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void one_job_cannot_take_all_room(void **state)
{
	struct daemon_fixture d;
	struct fake_rank one[4], other[4];
	char name[32];
	(void)state;
	start_two_jobs(&d, one, other);
	for (int i = 0; i < ZCTL_PUBLISHED_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(publish(&one[i % 4], name, "port"), ZCTL_NAMING_DONE);
	}
	assert_int_equal(publish(&one[0], "another", "port"), ZCTL_NAMING_FULL);
	assert_int_equal(publish(&other[0], "another", "port"), ZCTL_NAMING_DONE);
	job_bye(one, 4);
	job_bye(other, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* An answer from a rank makes no sense. */
static void an_answer_is_no_question(void **state)
{
	struct daemon_fixture d;
	struct fake_rank one[4], other[4];
	struct zctl_naming q = {.what = ZCTL_NAMING_PUBLISH, .answer = ZCTL_NAMING_DONE, .service = "name"};
	(void)state;
	start_two_jobs(&d, one, other);
	assert_int_equal(zsession_naming(one[2].session, &q), 0);
	assert_true(daemon_logged(&d, "job tester/one: rank 2 (b rank 0 on "));
	assert_int_equal(publish(&other[0], "name", "port"), ZCTL_NAMING_DONE);
	for (int i = 0; i < 4; i++)
		fake_kill(&one[i]);
	job_bye(other, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_job_has_its_own),
		cmocka_unit_test(names_end_with_the_job),
		cmocka_unit_test(one_job_cannot_take_all_room),
		cmocka_unit_test(an_answer_is_no_question),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_names", tests, NULL, NULL);
}
