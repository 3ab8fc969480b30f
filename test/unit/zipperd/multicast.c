/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to several ranks through the real zipperd: fake ranks post them once, with lists of receivers. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

#define OVER_TCP "a,b,c,d=tcp:127.0.0.1:0"
#define OVER_SHM "a,b,c,d=shm:%d/sock"
#define LIMIT_MS 120000 /* sanitizers and two busy cores are slow */
#define RANKS 6		/* a 0; b 0, 1; c 0, 1; d 0: vranks 0 to 5 */

struct world {
	struct daemon_fixture d;
	struct fake_rank r[RANKS];
};

static void world_join(struct world *w, const char *job)
{
	static const char *const part[RANKS] = {"a", "b", "b", "c", "c", "d"};
	static const uint32_t rank[RANKS] = {0, 0, 1, 0, 1, 0}, size[RANKS] = {1, 2, 2, 2, 2, 1};
	for (int i = 0; i < RANKS; i++)
		fake_init(&w->r[i], job, "a,b,c,d", part[i], rank[i], size[i], &w->d.addr[i % w->d.naddrs]);
	fake_join_all(w->r, RANKS);
	job_assert_joined(w->r, RANKS);
	/* The root has a channel to every part. Any of them may take its lists. */
	for (uint32_t p = 1; p < 4; p++)
		assert_int_equal(fake_attach(&w->r[0], p), 0);
	w->r[0].carrier = 2;
}

static void world_start(struct world *w, const char *listen, const char *options)
{
	daemon_start(&w->d, listen, options);
	world_join(w, "j");
}

static void set_goal(struct world *w, uint64_t goal)
{
	for (int v = 1; v < RANKS; v++) {
		w->r[0].peer[v].listed = true;
		w->r[0].peer[v].goal = goal;
	}
}

static void world_stop(struct world *w)
{
	for (int i = 0; i < RANKS; i++)
		if (w->r[i].session)
			fake_bye(&w->r[i]);
	assert_int_equal(daemon_stop(&w->d), 0);
}

static void get_stats(const struct world *w, struct zctl_stats_reply *stats)
{
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	fixture_params(&p, &w->d.addr[0], "j");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, &err), 0);
	assert_int_equal(zsession_stats(s, stats, &err), 0);
	zsession_close(s);
}

static void multicast(const char *listen, const char *options)
{
	const uint64_t goal = 300;
	struct zctl_stats_reply stats;
	struct world w;
	uint64_t msgs = 0, bytes = 0, shared = 0, to_b = 0;
	world_start(&w, listen, options);
	for (int i = 0; i < RANKS; i++)
		w.r[i].max_len = 16 << 10;
	set_goal(&w, goal);
	/* Traffic the other way, and between the receivers, on the same links. */
	for (int v = 1; v < RANKS; v++)
		w.r[v].peer[0].goal = 100;
	w.r[1].peer[3].goal = w.r[4].peer[5].goal = 100;
	assert_true(fake_run(w.r, RANKS, fake_all_taken, LIMIT_MS));
	job_assert_good(w.r, RANKS);
	get_stats(&w, &stats);
	for (uint32_t i = 0; i < stats.ndirs; i++) {
		const struct zctl_dirstat *dir = &stats.dirs[i];
		if (strcmp(dir->from, "a") != 0)
			continue;
		msgs += dir->msgs;
		bytes += dir->bytes;
		shared += dir->shared_bytes;
		to_b += strcmp(dir->to, "b") == 0 ? dir->bytes : 0;
	}
	zctl_free(&(struct zctl_msg){.type = ZCTL_STATS_REPLY, .u.stats = stats});
	/* All ranks got everything, and each message came in at least once. */
	assert_true(msgs >= 5 * goal);
	assert_true(bytes >= 5 * (to_b / 2));
	assert_true(bytes - shared >= to_b / 2);
	if (w.r[0].nlists == goal) { /* no rank lagged behind: exactly once */
		assert_int_equal(msgs, 5 * goal);
		assert_true(shared * 5 == bytes * 4);
	}
	world_stop(&w);
}

static void all_get_it_over_tcp(void **state)
{
	(void)state;
	multicast(OVER_TCP, NULL);
	multicast(OVER_TCP, "threads=pair");
	multicast(OVER_TCP, "threads=direction");
}

static void all_get_it_over_shm(void **state)
{
	(void)state;
	multicast(OVER_SHM, NULL);
	multicast(OVER_SHM, "threads=direction spin=never");
}

static void all_get_it_over_both(void **state)
{
	(void)state;
	multicast(OVER_TCP " " OVER_SHM, "threads=direction");
}

static int left_out;

/* All ranks except one have everything. */
static bool others_have_it(struct fake_rank *r, int n)
{
	for (int v = 1; v < n; v++)
		if (v != left_out && !r[0].peer[v].bye && r[0].peer[v].acked < r[0].peer[v].goal)
			return false;
	return true;
}

/* A receiver that takes nothing holds up no other, is refused alone, and gets everything in the end. */
static void slow(int who)
{
	struct world w;
	world_start(&w, OVER_TCP " " OVER_SHM, "dest_share=64K threads=direction");
	for (int i = 0; i < RANKS; i++)
		w.r[i].max_len = 16 << 10;
	/* The messages exceed the window of unacknowledged ones many times, so the others must go on alone. */
	set_goal(&w, 300);
	left_out = who;
	w.r[who].deaf = true;
	assert_true(fake_run(w.r, RANKS, others_have_it, LIMIT_MS));
	assert_true(w.r[0].peer[who].acked < 300);
	w.r[who].deaf = false;
	assert_true(fake_run(w.r, RANKS, fake_all_taken, LIMIT_MS));
	job_assert_good(w.r, RANKS);
	world_stop(&w);
}

static void a_slow_one_holds_up_nobody(void **state)
{
	(void)state;
	slow(3); /* behind the worker that the lists come in by */
	slow(2); /* behind another one */
}

static void those_that_have_left_are_passed_over(void **state)
{
	struct world w;
	(void)state;
	world_start(&w, OVER_SHM, NULL);
	set_goal(&w, 100);
	assert_true(fake_run(w.r, RANKS, fake_all_taken, LIMIT_MS));
	fake_bye(&w.r[2]);
	fake_bye(&w.r[4]);
	set_goal(&w, 300);
	left_out = 0;
	assert_true(fake_run(w.r, RANKS, others_have_it, LIMIT_MS));
	assert_true(w.r[0].peer[2].bye && w.r[0].peer[4].bye);
	job_assert_good(w.r, RANKS);
	world_stop(&w);
}

static bool half_way(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].acked > 100;
}

static void the_death_of_one_ends_it_for_all(void **state)
{
	struct world w;
	(void)state;
	world_start(&w, OVER_TCP, "threads=direction");
	set_goal(&w, UINT64_MAX);
	assert_true(fake_run(w.r, RANKS, half_way, LIMIT_MS));
	fake_kill(&w.r[4]);
	assert_true(fake_run(w.r, RANKS, fake_all_dead, LIMIT_MS));
	for (int i = 0; i < RANKS; i++) {
		if (i == 4)
			continue;
		assert_non_null(strstr(w.r[i].dead_text, "rank 4 (c rank 1 on host1) died"));
		fake_kill(&w.r[i]);
	}
	assert_int_equal(daemon_stop(&w.d), 0);
}

/* --- what no rank sends --- */

struct wrong {
	const char *text;
	struct zwire_receiver list[2];
	int n;
	struct zwire_env env; /* kind 0: none */
};

static const struct wrong wrongs[] = {
	{"a list of receivers of a wrong length", {{0}}, 0, {0}},
	{"a list of receivers of a wrong length", {{.dst = 1}}, -1, {0}}, /* a byte too many */
	{"a list of receivers of a wrong length", {{.dst = 1}}, ZWIRE_RECEIVERS_MAX + 1, {0}},
	{"a list with a receiver that no channel leads to", {{.dst = 1}, {.dst = RANKS}}, 2, {0}},
	{"a list with a receiver that no channel leads to", {{.dst = 1}, {.dst = 0}}, 2, {0}}, /* itself */
	{"a receiver that is not well formed", {{.dst = 1}}, -2, {0}},
	{"a message without the list of its receivers", {{0}}, -3, {.kind = ZWIRE_DATA}},
	{"a message to nobody", {{.dst = 1}}, 1, {.kind = ZWIRE_CTS}},
	{"a message to nobody", {{.dst = 1}}, 1, {.kind = ZWIRE_NAK}},
	{"a message to nobody", {{.dst = 1}}, 1, {.kind = ZWIRE_EAGER, .seq = 1}},
	{"a message to nobody", {{.dst = 1}}, 1, {.kind = ZWIRE_EAGER, .flags = ZWIRE_F_ONE_SIDED, .len = 24}},
	{"a message to nobody", {{.dst = 1}}, 1, {.kind = ZWIRE_RTS, .xfer = 5}},
	{"a request to send without a sequence number", {{.dst = 1}}, 1,
		{.kind = ZWIRE_RTS, .flags = ZWIRE_F_ONE_SIDED, .len = 24}},
	{"a request to send with a payload that is no key", {{.dst = 3, .seq = 1}}, 1,
		{.kind = ZWIRE_RTS, .flags = ZWIRE_F_ONE_SIDED, .len = 23}},
	{"an eager message without a sequence number", {{.dst = 1, .seq = 1}, {.dst = 3}}, 2, {.kind = ZWIRE_EAGER}},
	{"an eager message above eager_bytes", {{.dst = 5, .seq = 1}}, 1, {.kind = ZWIRE_EAGER, .len = 16385}},
	{"a fragment above frag_bytes", {{.dst = 5}}, 1, {.kind = ZWIRE_DATA, .len = 131073}},
	{"a message in another's name", {{.dst = 1}}, 1, {.kind = ZWIRE_DATA, .src = 1}},
	{"more data than the receiver asked for", {{.dst = 5}}, 1,
		{.kind = ZWIRE_DATA, .len = 65536}}, /* again and again */
};

static void post_wrong(struct fake_rank *r, const struct wrong *x)
{
	static uint8_t noise[ZWIRE_MAX_PAYLOAD];
	struct zwire_receiver list[ZWIRE_RECEIVERS_MAX + 1];
	struct zwire_env env = x->env, head = {.kind = ZWIRE_RECEIVERS, .src = 0, .dst = ZWIRE_NOBODY};
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		list[i] = x->list[i < 2 && (int)i < x->n ? i : 0];
	env.dst = ZWIRE_NOBODY;
	if (x->n >= 0) {
		fake_post_list(r, list, x->n, env.kind ? &env : NULL, noise);
		r->link[r->carrier]->ops->flush(r->link[r->carrier]);
		return;
	}
	memset(noise, 0, 64);
	zwire_put_receiver(noise, &list[0]);
	noise[4] = x->n == -2;
	head.len = ZWIRE_RECEIVER_BYTES + (x->n == -1);
	fake_post(r, r->carrier, x->n == -3 ? &env : &head, noise);
}

static void the_hostile_are_stopped(void **state)
{
	struct daemon_fixture d;
	char job[32], line[160];
	(void)state;
	daemon_start(&d, OVER_TCP, "eager_bytes=16K frag_bytes=128K dest_share=64K rdv_window=128K threads=direction");
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		struct world w = {.d = d};
		snprintf(job, sizeof(job), "bad%zu", i);
		world_join(&w, job);
		w.r[5].ignores_open = true; /* no message to it leaves */
		post_wrong(&w.r[0], &wrongs[i]);
		for (int64_t end = fixture_now_ms() + LIMIT_MS; !w.r[0].dead && fixture_now_ms() < end;) {
			if (wrongs[i].env.len == 65536)
				post_wrong(&w.r[0], &wrongs[i]);
			fake_turn(&w.r[0]);
			fixture_nap(1);
		}
		snprintf(line, sizeof(line), "rank 0 (a rank 0 on host0) broke the protocol: %s", wrongs[i].text);
		assert_string_equal(w.r[0].dead_text, line);
		assert_true(daemon_logged(&d, line));
		for (int k = 0; k < RANKS; k++)
			fake_kill(&w.r[k]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_get_it_over_tcp),
		cmocka_unit_test(all_get_it_over_shm),
		cmocka_unit_test(all_get_it_over_both),
		cmocka_unit_test(a_slow_one_holds_up_nobody),
		cmocka_unit_test(those_that_have_left_are_passed_over),
		cmocka_unit_test(the_death_of_one_ends_it_for_all),
		cmocka_unit_test(the_hostile_are_stopped),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_multicast", tests, NULL, NULL);
}
