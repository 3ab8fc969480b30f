/* SPDX-License-Identifier: BSD-3-Clause */
/* The real zipperd and faults: strangers, wrong keys, ranks that die, abort or break the rules, and zipperd's own end.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

static void wrong_key_is_refused(void **state)
{
	struct daemon_fixture d;
	struct zsession *s;
	struct zsession_params p;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	fixture_params(&p, d.addr, "j");
	p.key[0] ^= 1;
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err), -EACCES);
	assert_non_null(strstr(err.text, "refuses the key of user tester"));
	fixture_params(&p, d.addr, "j");
	strcpy(p.user, "nobody");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err), -EACCES);
	memset(p.key, 0, sizeof(p.key)); /* a key that no user has, also not users without a key */
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err), -EACCES);
	assert_true(daemon_logged(&d, "wrong key for user tester"));
	assert_int_equal(daemon_stop(&d), 0);
}

static int take_nothing(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)ctx;
	(void)env;
	(void)raw;
	(void)payload;
	return 0;
}

/* Only connections that have proved who they are get memory for large messages: zipperd checks the announced length
 * first. */
static void strangers_get_no_memory(void **state)
{
	struct daemon_fixture d;
	struct zlink *z;
	struct zerr err;
	uint8_t raw[ZWIRE_ENV_BYTES];
	const struct zwire_env env = {.kind = ZWIRE_CTRL, .len = 1 << 20};
	const struct zsink sink = {.take = take_nothing};
	int rc;
	(void)state;
	daemon_start(&d, TCP, NULL);
	assert_int_equal(ztransport_tcp.connect(&z, d.addr, RUN_MS, &err), 0);
	zwire_encode(raw, &env);
	uint8_t *payload = calloc(1, env.len);
	assert_non_null(payload);
	assert_int_equal(z->ops->post(z, raw, payload, 5000), 0); /* the rest never comes */
	z->ops->flush(z);
	while ((rc = z->ops->poll(z, &sink, 1)) == 0)
		fixture_nap(1);
	assert_true(rc < 0);
	z->ops->close(z);
	free(payload);
	assert_true(daemon_logged(&d, "not what a zipper's peer sends"));
	assert_int_equal(daemon_stop(&d), 0);
}

static void death_of_a_rank_is_told(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, SHM, NULL);
	job_exchange(r, 4, 50);
	fake_kill(&r[3]);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 3; i++) {
		assert_non_null(strstr(r[i].dead_text, "rank 3 (b rank 1 on host1) died"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* Its mpiexec kills the other ranks of a part as soon as one has died. zipperd has something to read from rank 0
 * already when the first rank dies, so epoll reports rank 0 first. */
static void first_death_is_named(void **state)
{
	const char *listen[] = {SHM, TCP};
	(void)state;
	for (size_t t = 0; t < sizeof(listen) / sizeof(listen[0]); t++) {
		struct daemon_fixture d;
		struct fake_rank r[4];
		struct zctl_traffic none = {.nparts = 0};
		job_start(&d, r, listen[t], NULL);
		assert_int_equal(kill(d.pid, SIGSTOP), 0);
		assert_int_equal(zsession_traffic(r[0].session, &none), 0);
		assert_int_equal(zsession_traffic(r[2].session, &none), 0);
		fake_bye(&r[2]);
		fake_kill(&r[1]);
		fake_kill(&r[0]);
		assert_int_equal(kill(d.pid, SIGCONT), 0);
		assert_true(fake_run(&r[3], 1, fake_all_dead, 30000));
		assert_non_null(strstr(r[3].dead_text, "rank 1 (a rank 1 on host1) died"));
		fake_kill(&r[3]);
		assert_int_equal(daemon_stop(&d), 0);
	}
}

static void loss_of_a_channel_is_death_too(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, NULL);
	job_exchange(r, 4, 50);
	r[1].link[1]->ops->close(r[1].link[1]);
	r[1].link[1] = NULL;
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 4; i++) {
		assert_non_null(strstr(r[i].dead_text, "rank 1 (a rank 1 on host1) died"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

static void abort_reaches_all(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, NULL);
	assert_int_equal(zsession_abort(r[2].session, 77, "had enough"), 0);
	fake_kill(&r[2]);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	assert_non_null(strstr(r[0].dead_text, "rank 2 (b rank 0 on host0) aborted with code 77: had enough"));
	for (int i = 0; i < 4; i++)
		if (i != 2)
			fake_kill(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

static void sigterm_tells_all(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, NULL);
	job_exchange(r, 4, 20);
	kill(d.pid, SIGTERM);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 4; i++) {
		assert_string_equal(r[i].dead_text, "zipperd is shutting down");
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

static void breaking_the_rules_ends_that_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], other[4];
	const struct zwire_env bad[] = {
		{.kind = ZWIRE_EAGER, .src = 1, .dst = 2, .seq = 1},		   /* not its name */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 1, .seq = 1},		   /* same part */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 99, .seq = 1},		   /* nobody */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 2, .seq = 0},		   /* no number */
		{.kind = ZWIRE_RTS, .src = 0, .dst = 2, .seq = 1, .len = 5},	   /* payload */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 2, .seq = 1, .len = 40000}, /* too large */
		{.kind = ZWIRE_NAK, .src = 0, .dst = 2, .seq = 1},		   /* zipperd's own */
		{.kind = ZWIRE_CTRL, .src = 0, .dst = 2},
		{.kind = ZWIRE_ACK, .src = 0, .dst = 2, .job = 7},
	};
	static const uint8_t zeros[40000];
	(void)state;
	daemon_start(&d, TCP, NULL);
	job_init(other, "other", d.addr);
	fake_join_all(other, 4);
	job_assert_joined(other, 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		job_init(r, "j", d.addr);
		fake_join_all(r, 4);
		job_assert_joined(r, 4);
		assert_int_equal(fake_attach(&r[0], 1), 0);
		assert_int_equal(fake_post(&r[0], 1, &bad[i], zeros), 0);
		assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
		assert_non_null(strstr(r[3].dead_text, "rank 0 (a rank 0 on host0) broke the protocol"));
		for (int k = 0; k < 4; k++)
			fake_kill(&r[k]);
	}
	job_exchange(other, 4, 100);
	job_assert_good(other, 4);
	job_bye(other, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_key_is_refused),
		cmocka_unit_test(strangers_get_no_memory),
		cmocka_unit_test(death_of_a_rank_is_told),
		cmocka_unit_test(first_death_is_named),
		cmocka_unit_test(loss_of_a_channel_is_death_too),
		cmocka_unit_test(abort_reaches_all),
		cmocka_unit_test(sigterm_tells_all),
		cmocka_unit_test(breaking_the_rules_ends_that_job),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_faults", tests, NULL, NULL);
}
