/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding by the real zipperd, with contents checked: over tcp and shm, for several jobs. An idle zipperd sleeps. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

static void forward(const char *listen, const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	job_start(&d, r, listen, options);
	for (int i = 0; i < 4; i++)
		r[i].max_len = 16 << 10;
	job_exchange(r, 4, 2000);
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_true(daemon_logged(&d, "a>b 8000 messages"));
	assert_true(daemon_logged(&d, "b>a 8000 messages"));
	assert_int_equal(daemon_stop(&d), 0);
}

static void forwards_both_ways_over_tcp(void **state)
{
	(void)state;
	forward(TCP, NULL);
	forward(TCP, "threads=pair");
}

static void forwards_both_ways_over_shm(void **state)
{
	(void)state;
	forward(SHM, NULL);
	forward(SHM, "threads=pair spin=never");
	forward(SHM, "spin=1000");
}

static void forwards_from_tcp_to_shm(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, "a=tcp:127.0.0.1:0 b=shm:%d/sock", NULL);
	job_init(r, "j", d.addr);
	r[2].addr = r[3].addr = d.addr[1];
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 1000);
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

#define JOBS 6
static void many_jobs_at_once(void **state)
{
	struct daemon_fixture d;
	static struct fake_rank r[JOBS][4];
	static char name[JOBS][8];
	(void)state;
	daemon_start(&d, TCP " " SHM, NULL);
	for (int j = 0; j < JOBS; j++) {
		snprintf(name[j], sizeof(name[j]), "job%d", j);
		job_init(r[j], name[j], &d.addr[j % 2]);
		fake_join_all(r[j], 4);
		job_assert_joined(r[j], 4);
		for (int k = 0; k < j; k++)
			assert_memory_not_equal(r[k][0].key, r[j][0].key, ZAUTH_KEY_BYTES);
		job_set_goals(r[j], 4, 300 + 10 * (uint64_t)j);
	}
	/* A rank of another job is refused. */
	struct fake_rank thief = r[0][0];
	memset(thief.link, 0, sizeof(thief.link));
	memcpy(thief.key, r[1][0].key, ZAUTH_KEY_BYTES);
	thief.job = "job0";
	assert_int_equal(fake_attach(&thief, 1), 0); /* zipperd says so afterwards, by closing */
	struct zsink sink = {.take = NULL};
	int rc = 0;
	for (int64_t end = fixture_now_ms() + RUN_MS; rc == 0 && fixture_now_ms() < end;) {
		struct zwire_env env = {.kind = ZWIRE_ACK, .dst = 2};
		rc = fake_post(&thief, 1, &env, NULL);
		fixture_nap(10);
	}
	(void)sink;
	assert_true(rc < 0);
	thief.link[1]->ops->close(thief.link[1]);
	for (bool all = false; !all;) {
		all = true;
		for (int j = 0; j < JOBS; j++) {
			for (int i = 0; i < 4; i++)
				fake_turn(&r[j][i]);
			all &= fake_all_taken(r[j], 4);
		}
	}
	/* The death of one job does not touch the others. */
	fake_kill(&r[2][1]);
	assert_true(fake_run(r[2], 4, fake_all_dead, RUN_MS));
	job_set_goals(r[3], 4, 1000);
	assert_true(fake_run(r[3], 4, fake_all_taken, RUN_MS));
	for (int j = 0; j < JOBS; j++)
		if (j != 2) {
			job_assert_good(r[j], 4);
			job_bye(r[j], 4);
		} else {
			fake_kill(&r[j][0]);
			fake_kill(&r[j][2]);
			fake_kill(&r[j][3]);
		}
	assert_int_equal(daemon_stop(&d), 0);
}

static void idle(const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	daemon_start(&d, TCP " " SHM, options);
	job_init(r, "j", d.addr);
	r[2].addr = r[3].addr = d.addr[1];
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 50);
	fixture_nap(200);
	long before = daemon_cpu_ticks(&d);
	fixture_nap(2000);
	long used = daemon_cpu_ticks(&d) - before;
	print_message("# %ld clock ticks in 2 s\n", used);
	assert_true(used <= 2);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void idle_daemon_sleeps(void **state)
{
	(void)state;
	idle("threads=direction");
	idle("threads=pair");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forwards_both_ways_over_tcp),
		cmocka_unit_test(forwards_both_ways_over_shm),
		cmocka_unit_test(forwards_from_tcp_to_shm),
		cmocka_unit_test(many_jobs_at_once),
		cmocka_unit_test(idle_daemon_sleeps),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_forward", tests, NULL, NULL);
}
