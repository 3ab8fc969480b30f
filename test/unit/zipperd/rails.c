/* SPDX-License-Identifier: BSD-3-Clause */
/* zipperd and ranks that have lost another zipperd: fake ranks of a job of two parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

#define LISTEN "a,b=tcp:127.0.0.1:0"
#define LIMIT_MS 120000
#define RANKS 4 /* a 0, a 1, b 0, b 1 */

static bool others_dead(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].dead && r[2].dead && r[3].dead;
}

static void who_quits_is_named(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[RANKS];
	(void)state;
	job_start(&d, r, LISTEN, NULL);
	zsession_quit(r[1].session, "data channel to part b: closed");
	r[1].session = NULL;
	zctl_world_free(&r[1].world);
	assert_true(fake_run(r, RANKS, others_dead, LIMIT_MS));
	assert_non_null(strstr(r[2].dead_text, "rank 1 (a rank 1 on "));
	assert_non_null(strstr(r[2].dead_text, ") has lost this zipper: data channel to part b: closed"));
	for (int i = 0; i < RANKS; i++)
		if (r[i].session)
			fake_kill(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

static bool asked_to_open(struct fake_rank *r, int n)
{
	(void)n;
	return r[3].opens > 0;
}

static bool told_bye(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].bye && r[1].peer[3].bye;
}

/* A rank that has left never says what it has taken. One message waits for it when it leaves, the other comes later. */
static void who_has_left_is_answered_for(void **state)
{
	const struct zwire_env rails = {.kind = ZWIRE_RAILS, .dst = 3, .offset = 2};
	struct zwire_env mine = rails;
	struct daemon_fixture d;
	struct fake_rank r[RANKS];
	(void)state;
	job_start(&d, r, LISTEN, NULL);
	r[3].ignores_open = true;
	assert_int_equal(fake_attach(&r[0], 1), 0);
	assert_int_equal(fake_attach(&r[1], 1), 0);
	assert_int_equal(fake_post(&r[0], 1, &mine, NULL), 0);
	assert_true(fake_run(r, RANKS, asked_to_open, LIMIT_MS));
	assert_false(r[0].peer[3].bye);
	fake_bye(&r[3]);
	mine.src = 1;
	assert_int_equal(fake_post(&r[1], 1, &mine, NULL), 0);
	assert_true(fake_run(r, 3, told_bye, LIMIT_MS));
	for (int i = 0; i < 3; i++)
		fake_bye(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

static bool refused_11(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].held == 11;
}

static bool refused_5(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].held == 5;
}

static bool resumed(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].resumes > 0;
}

/* Messages that had gone by another zipper come after later ones of their stream, and may be refused as well. */
static void streams_that_come_here_are_refused_from_their_beginning(void **state)
{
	static uint8_t payload[14 << 10];
	struct zwire_env env = {.kind = ZWIRE_EAGER, .dst = 3, .len = sizeof(payload), .offset = sizeof(payload)};
	struct daemon_fixture d;
	struct fake_rank r[RANKS];
	(void)state;
	job_start(&d, r, LISTEN, "dest_share=20K eager_bytes=16K");
	r[3].ignores_open = true;
	assert_int_equal(fake_attach(&r[0], 1), 0);
	env.seq = 10;
	assert_int_equal(fake_post(&r[0], 1, &env, payload), 0);
	env.seq = 11;
	assert_int_equal(fake_post(&r[0], 1, &env, payload), 0);
	assert_true(fake_run(r, RANKS, refused_11, LIMIT_MS));
	env.seq = 5;
	assert_int_equal(fake_post(&r[0], 1, &env, payload), 0);
	assert_true(fake_run(r, RANKS, refused_5, LIMIT_MS));
	r[3].deaf = true; /* it would complain of this order */
	assert_int_equal(fake_attach(&r[3], 0), 0);
	assert_true(fake_run(r, RANKS, resumed, LIMIT_MS));
	assert_int_equal(r[0].bad, 0); /* resumed from 5 on */
	for (int i = 0; i < RANKS; i++)
		fake_bye(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

static void only_zipperd_moves(void **state)
{
	struct zwire_env env = {.kind = ZWIRE_MOVED, .flags = ZWIRE_F_RESTART, .dst = 3, .xfer = 1};
	struct daemon_fixture d;
	struct fake_rank r[RANKS];
	(void)state;
	job_start(&d, r, LISTEN, NULL);
	assert_int_equal(fake_attach(&r[0], 1), 0);
	assert_int_equal(fake_attach(&r[3], 0), 0);
	assert_int_equal(fake_post(&r[0], 1, &env, NULL), 0);
	env.kind = ZWIRE_ASK;
	env.flags = 0;
	assert_int_equal(fake_post(&r[0], 1, &env, NULL), 0);
	r[0].peer[3].goal = 20;
	assert_true(fake_run(r, RANKS, fake_all_taken, LIMIT_MS));
	env.kind = ZWIRE_MOVED;
	assert_int_equal(fake_post(&r[0], 1, &env, NULL), 0);
	assert_true(fake_run(r, RANKS, fake_all_dead, LIMIT_MS));
	assert_non_null(strstr(r[3].dead_text, "broke the protocol: word of a transfer that is zipperd's to give"));
	for (int i = 0; i < RANKS; i++)
		fake_kill(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_quits_is_named),
		cmocka_unit_test(who_has_left_is_answered_for),
		cmocka_unit_test(streams_that_come_here_are_refused_from_their_beginning),
		cmocka_unit_test(only_zipperd_moves),
	};
	return cmocka_run_group_tests_name("zipperd where another one is lost", tests, NULL, NULL);
}
