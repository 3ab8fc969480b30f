/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks with several endpoints at the real zipperd: two parts, two ranks each. Messages, refusals, requests and ends
 * concern one endpoint alone; a rank stays one rank. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

#define RANKS 4
#define ENDPOINTS 3
#define STATIONS (ENDPOINTS * RANKS) /* r[i] is station i */

static void join(struct daemon_fixture *d, struct fake_rank r[STATIONS], const char *job)
{
	job_init(r, job, d->addr);
	for (int i = 0; i < RANKS; i++)
		r[i].join.endpoints = ENDPOINTS;
	fake_join_all(r, RANKS);
	job_assert_joined(r, RANKS);
	for (int i = RANKS; i < STATIONS; i++)
		fake_add_endpoint(&r[i % RANKS], &r[i]);
}

static void start(struct daemon_fixture *d, struct fake_rank r[STATIONS], const char *listen, const char *options)
{
	daemon_start(d, listen, options);
	join(d, r, "j");
}

static void halt(struct daemon_fixture *d, struct fake_rank r[STATIONS])
{
	job_assert_good(r, STATIONS);
	for (int i = 0; i < RANKS; i++)
		if (r[i].session)
			fake_bye(&r[i]);
	assert_int_equal(daemon_stop(d), 0);
}

static bool all_taken(struct fake_rank *r, int n)
{
	(void)n;
	for (int e = 0; e < ENDPOINTS; e++)
		if (!fake_all_taken(r + e * RANKS, RANKS))
			return false;
	return true;
}

static void exchange(const char *listen, const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[STATIONS];
	start(&d, r, listen, options);
	for (int e = 0; e < ENDPOINTS; e++)
		job_set_goals(r + e * RANKS, RANKS, 100 + 50 * (uint64_t)e);
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	halt(&d, r);
}

/* The contents name both stations. */
static void messages_come_to_their_endpoint(void **state)
{
	(void)state;
	exchange(TCP, NULL);
	exchange(TCP, "threads=pair");
	exchange(SHM, NULL);
}

/* Ranks whose vranks do not follow their parts. */
static void endpoints_of_mixed_jobs(void **state)
{
	static const char *const part[RANKS] = {"b", "a", "b", "b"};
	struct daemon_fixture d;
	struct fake_rank r[STATIONS];
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (uint32_t i = 0; i < RANKS; i++) {
		fake_init(&r[i], "m", "a,b", part[i], i, RANKS, d.addr);
		r[i].join.mixed = 1;
		r[i].join.endpoints = ENDPOINTS;
	}
	fake_join_all(r, RANKS);
	job_assert_joined(r, RANKS);
	for (int i = RANKS; i < STATIONS; i++)
		fake_add_endpoint(&r[i % RANKS], &r[i]);
	for (int e = 0; e < ENDPOINTS; e++)
		job_set_goals(r + e * RANKS, RANKS, 60);
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	halt(&d, r);
}

static bool both_taken(struct fake_rank *r, int n)
{
	(void)n;
	return fake_all_taken(r, 3) && fake_all_taken(r + 3, 3);
}

/* Lists with receivers of the same worker, and of another worker by a relay. */
static void lists_name_stations(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[2 * 3];
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (int i = 0; i < 3; i++) {
		fake_init(&r[i], "l", "a,b,c", (const char *[]){"a", "b", "c"}[i], 0, 1, d.addr);
		r[i].join.endpoints = 2;
	}
	fake_join_all(r, 3);
	job_assert_joined(r, 3);
	for (int i = 0; i < 3; i++)
		fake_add_endpoint(&r[i], &r[3 + i]);
	for (int e = 0; e < 2; e++) {
		struct fake_rank *from = &r[3 * e];
		from->carrier = 1;
		for (uint32_t v = 1; v < 3; v++) {
			assert_int_equal(fake_attach(from, v), 0);
			from->peer[v].listed = true;
			from->peer[v].goal = 50;
		}
	}
	assert_true(fake_run(r, 6, both_taken, RUN_MS));
	job_assert_good(r, 6);
	job_bye(r, 3);
	assert_int_equal(daemon_stop(&d), 0);
}

/* --- refusals, and requests to open --- */

static bool only_one_is_held(struct fake_rank *r, int n)
{
	(void)n;
	for (int e = 0; e < ENDPOINTS; e++)
		for (int i = 0; i < 2; i++) {
			const struct fake_peer *p = &r[e * RANKS + i].peer[3];
			if (e == 1 ? p->held == 0 : p->acked < p->goal)
				return false;
		}
	return r[RANKS + 3].opens > 0;
}

static void one_endpoint_is_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[STATIONS], *slow = &r[RANKS + 3];
	(void)state;
	start(&d, r, TCP, "dest_share=20K eager_bytes=16K");
	slow->ignores_open = true;
	for (int i = 0; i < STATIONS; i++) {
		r[i].max_len = 16 << 10;
		r[i].peer[3].goal = i % RANKS < 2 ? 200 : 0;
	}
	assert_true(fake_run(r, STATIONS, only_one_is_held, RUN_MS));
	for (int i = 0; i < 2; i++) {
		assert_true(r[RANKS + i].peer[3].naks > 0);
		assert_int_equal(r[RANKS + i].peer[3].acked, 0);
	}
	for (int i = 0; i < STATIONS; i++)
		assert_int_equal(r[i].opens, i % RANKS == 3);
	assert_int_equal(fake_attach(slow, 0), 0);
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	assert_true(r[RANKS].peer[3].resumes + r[RANKS + 1].peer[3].resumes > 0);
	halt(&d, r);
}

/* --- leaving --- */

static bool all_held(struct fake_rank *r, int n)
{
	(void)n;
	for (int e = 0; e < ENDPOINTS; e++)
		if (r[e * RANKS].peer[3].held == 0 || r[e * RANKS + 3].opens == 0)
			return false;
	return true;
}

static bool all_told_bye(struct fake_rank *r, int n)
{
	(void)n;
	for (int e = 0; e < ENDPOINTS; e++)
		for (int i = 0; i < 2; i++)
			if (!r[e * RANKS + i].peer[3].bye)
				return false;
	return true;
}

/* A rank that has left: senders to any of its endpoints are told. That holds for messages that waited when it left, for
 * later messages, and where nothing had gone between the two parts before. */
static void rank_leaves_with_all_endpoints(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[STATIONS], late[STATIONS];
	(void)state;
	start(&d, r, TCP, "dest_share=20K eager_bytes=16K");
	for (int e = 0; e < ENDPOINTS; e++) {
		r[e * RANKS].max_len = 16 << 10;
		r[e * RANKS].peer[3].goal = 100;
		r[e * RANKS + 3].ignores_open = true;
	}
	assert_true(fake_run(r, STATIONS, all_held, RUN_MS));
	fake_bye(&r[3]);
	for (int e = 0; e < ENDPOINTS; e++)
		r[e * RANKS + 1].peer[3].goal = 5;
	assert_true(fake_run(r, STATIONS, all_told_bye, RUN_MS));
	join(&d, late, "late");
	fake_bye(&late[3]);
	for (int e = 0; e < ENDPOINTS; e++)
		for (int i = 0; i < 2; i++)
			late[e * RANKS + i].peer[3].goal = 5;
	assert_true(fake_run(late, STATIONS, all_told_bye, RUN_MS));
	job_assert_good(late, STATIONS);
	job_bye(late, 3);
	assert_true(daemon_logged(&d, "job tester/late: over"));
	halt(&d, r);
}

static bool told_by_one(struct fake_rank *r, int n)
{
	(void)n;
	return r[RANKS].peer[3].bye;
}

/* BYE on a channel concerns its endpoint alone. */
static void one_endpoint_leaves(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[STATIONS];
	(void)state;
	start(&d, r, TCP, NULL);
	for (int e = 0; e < ENDPOINTS; e++)
		job_set_goals(r + e * RANKS, RANKS, 10);
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	fake_bye_channels(&r[RANKS + 3]);
	for (int e = 0; e < ENDPOINTS; e++)
		r[e * RANKS].peer[3].goal = 20000; /* some come after it */
	assert_true(fake_run(r, STATIONS, told_by_one, RUN_MS));
	for (int e = 0; e < ENDPOINTS; e += 2)
		r[e * RANKS].peer[3].goal = r[e * RANKS].peer[3].sent + 10;
	r[RANKS].peer[3].goal = 0;
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	for (int e = 0; e < ENDPOINTS; e += 2)
		assert_false(r[e * RANKS].peer[3].bye);
	halt(&d, r);
}

/* --- what does not fit --- */

static int keep_error(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	assert_int_equal(env->kind, ZWIRE_CTRL);
	assert_int_equal(zctl_decode(&msg, payload, env->len, &err), 0);
	assert_int_equal(msg.type, ZCTL_ERROR);
	*(struct zctl_error *)ctx = msg.u.error;
	return 0;
}

/* Sends ATTACH of that endpoint to part b. The answer is zipperd's text, "" where it closes without a word. */
static struct zctl_error refused(const struct fake_rank *r, uint32_t endpoint)
{
	struct fake_rank again = *r;
	struct zctl_error error = {.code = 0};
	struct zsink sink = {.take = keep_error, .ctx = &error};
	again.link[1] = NULL;
	again.endpoint = endpoint;
	assert_int_equal(fake_attach(&again, 1), 0);
	int64_t end = fixture_now_ms() + RUN_MS;
	int rc = 0;
	while (rc == 0) {
		rc = again.link[1]->ops->poll(again.link[1], &sink, 1);
		assert_true(fixture_now_ms() < end);
		fixture_nap(1);
	}
	again.link[1]->ops->close(again.link[1]);
	return error;
}

static void wrong_endpoints_are_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[STATIONS];
	(void)state;
	start(&d, r, TCP, NULL);
	for (int e = 0; e < ENDPOINTS; e++)
		job_set_goals(r + e * RANKS, RANKS, 10);
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	struct zctl_error error = refused(&r[1], ENDPOINTS);
	assert_int_equal(error.code, EINVAL);
	assert_string_equal(error.text, "rank 1 has no endpoint 3: it said that it has 3 of them");
	for (uint32_t e = 0; e < ENDPOINTS; e++) {
		error = refused(&r[1], e);
		assert_int_equal(error.code, EEXIST);
		assert_string_equal(error.text, "rank 1 has, or had, a channel to that part already");
	}
	assert_string_equal(refused(&r[1], ZCTL_ENDPOINTS_MAX).text, "");
	assert_true(daemon_logged(&d, "no rank has such an endpoint: connection closed"));
	for (int e = 0; e < ENDPOINTS; e++)
		job_set_goals(r + e * RANKS, RANKS, 20);
	assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
	halt(&d, r);
}

/* The reason names the rank, whichever endpoint it was. */
static void ranks_are_named(void **state)
{
	static const struct {
		struct zwire_env env;
		const char *text;
	} bad[] = {
		{{.kind = ZWIRE_EAGER, .src = 1, .dst = 6, .seq = 1},
			"broke the protocol: a message in another's name"},
		{{.kind = ZWIRE_EAGER, .src = 9, .dst = 6, .seq = 1},
			"broke the protocol: a message in another's name"},
		{{.kind = ZWIRE_EAGER, .src = 5, .dst = 4, .seq = 1},
			"broke the protocol: a message to a rank that this"},
		{{.kind = ZWIRE_EAGER, .src = 5, .dst = STATIONS, .seq = 1}, "broke the protocol: a message to a rank"},
		{{.kind = 0}, "died (its data connection was closed)"},
	};
	struct daemon_fixture d;
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fake_rank r[STATIONS], *one = &r[RANKS + 1];
		join(&d, r, "j");
		assert_int_equal(fake_attach(one, 1), 0);
		if (bad[i].env.kind) {
			assert_int_equal(fake_post(one, 1, &bad[i].env, NULL), 0);
		} else {
			job_set_goals(r + RANKS, RANKS, 5);
			assert_true(fake_run(r, STATIONS, all_taken, RUN_MS));
			one->link[1]->ops->close(one->link[1]);
			one->link[1] = NULL;
		}
		assert_true(fake_run(r, RANKS, fake_all_dead, RUN_MS));
		for (int k = 0; k < RANKS; k++) {
			assert_non_null(strstr(r[k].dead_text, "rank 1 (a rank 1 on host1)"));
			assert_non_null(strstr(r[k].dead_text, bad[i].text));
			fake_kill(&r[k]);
		}
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* All endpoints together get the memory that all ranks would get. */
static void windows_are_shared(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[STATIONS];
	(void)state;
	start(&d, r, TCP, "memory=16M rdv_window=4M user_memory=12M");
	for (int i = 0; i < RANKS; i++)
		assert_int_equal(r[i].world.rdv_window, (12 << 20) / 2 / STATIONS);
	halt(&d, r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_to_their_endpoint),
		cmocka_unit_test(endpoints_of_mixed_jobs),
		cmocka_unit_test(lists_name_stations),
		cmocka_unit_test(one_endpoint_is_refused),
		cmocka_unit_test(rank_leaves_with_all_endpoints),
		cmocka_unit_test(one_endpoint_leaves),
		cmocka_unit_test(wrong_endpoints_are_refused),
		cmocka_unit_test(ranks_are_named),
		cmocka_unit_test(windows_are_shared),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_endpoints", tests, NULL, NULL);
}
