/* SPDX-License-Identifier: BSD-3-Clause */
/* Circuits through the real zipperd, between two connections of the test's own: their traffic and their ends. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/daemon_fixture.h"

#define PATIENCE_MS 60000
#define BYTES 16384u
#define WAITING 2u /* messages: less than any connection takes */

struct bench {
	struct daemon_fixture d;
	struct zlink *end[2]; /* on fabric a, on fabric b */
	struct zsession *admin;
};

struct heard {
	uint64_t next; /* the expected number of the next message */
	bool met;
};

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct heard *h = ctx;
	(void)raw;
	(void)payload;
	if (env->kind == ZWIRE_CTRL) {
		h->met = true;
		return 0;
	}
	assert_int_equal(env->seq, h->next);
	h->next++;
	return 0;
}

static struct zlink *ask_as(struct bench *b, int i, const char *user, const char *job, const char *name)
{
	struct zctl_meet meet = {.name = ""};
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	fixture_params(&p, &b->d.addr[i], job);
	if (strcmp(user, FIXTURE_USER) != 0)
		p.key[0] = p.key[31] = 0xff; /* the fixture's other key */
	strcpy(p.user, user);
	strcpy(meet.name, name);
	strcpy(meet.from, i ? "b" : "a");
	strcpy(meet.to, i ? "a" : "b");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_CIRCUIT, &err), 0);
	assert_int_equal(zsession_meet(s, &meet, &err), 0);
	return zsession_release(s);
}

static struct zlink *ask(struct bench *b, int i)
{
	return ask_as(b, i, FIXTURE_USER, "j", "0-1");
}

/* Polls until the expected messages have come (0), or the link has ended (the reason). */
static int hear(struct zlink *z, struct heard *h, uint64_t until)
{
	const struct zsink sink = {.take = take, .ctx = h};
	const int64_t end = fixture_now_ms() + PATIENCE_MS;
	int rc = 0;
	while (rc >= 0 && (!h->met || h->next <= until)) {
		rc = z->ops->poll(z, &sink, 16);
		if (rc == 0)
			sched_yield();
		assert_true(fixture_now_ms() < end);
	}
	return rc < 0 ? rc : 0;
}

static int post(struct zlink *z, uint64_t number)
{
	static const uint8_t payload[BYTES];
	const struct zwire_env env = {.kind = ZWIRE_BLOCK, .seq = number, .len = BYTES};
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, &env);
	return z->ops->post(z, raw, payload, BYTES);
}

/* The number of its messages that zipperd has taken. */
static uint64_t count_taken(struct bench *b)
{
	struct zctl_stats_reply stats;
	struct zerr err;
	uint64_t msgs = 0;
	assert_int_equal(zsession_stats(b->admin, &stats, &err), 0);
	for (uint32_t i = 0; i < stats.ndirs; i++)
		msgs += strcmp(stats.dirs[i].from, "a") == 0 ? stats.dirs[i].msgs : 0;
	zctl_stats_free(&stats);
	return msgs;
}

/* Sends until there is no room behind zipperd, and some messages wait in front of it. Returns the number of all. */
static uint64_t fill(struct bench *b)
{
	struct zlink *z = b->end[0];
	uint64_t posted = 0, waiting = 0;
	while (waiting < WAITING) {
		int tries = 0;
		assert_int_equal(post(z, ++posted), 0);
		assert_int_equal(z->ops->flush(z), 0);
		while (count_taken(b) < posted - waiting && tries++ < 100)
			fixture_nap(2);
		waiting = posted - count_taken(b);
	}
	return posted;
}

static void start_with(struct bench *b, const char *transport, const char *options, struct heard h[2])
{
	struct zsession_params p;
	struct zerr err;
	memset(b, 0, sizeof(*b));
	memset(h, 0, 2 * sizeof(h[0]));
	h[0].next = h[1].next = 1;
	daemon_start(&b->d,
		strcmp(transport, "tcp") == 0 ? "a=tcp:127.0.0.1:0 b=tcp:127.0.0.1:0" : "a=shm:%d/a b=shm:%d/b",
		options);
	fixture_params(&p, &b->d.addr[0], "j");
	assert_int_equal(zsession_open(&b->admin, &p, ZCTL_SERVICE_ADMIN, &err), 0);
	for (int i = 0; i < 2; i++)
		b->end[i] = ask(b, i);
	for (int i = 0; i < 2; i++)
		assert_int_equal(hear(b->end[i], &h[i], 0), 0);
}

static void start(struct bench *b, const char *transport, struct heard h[2])
{
	start_with(b, transport, NULL, h);
}

static void halt(struct bench *b)
{
	b->end[1]->ops->close(b->end[1]);
	zsession_close(b->admin);
	assert_int_equal(daemon_stop(&b->d), 0);
}

/* Messages that one end sent before it closed arrive, though more of them wait than there is room for. */
static void last_words(void **state)
{
	struct bench b;
	struct heard h[2];
	start(&b, *state, h);
	const uint64_t sent = fill(&b);
	b.end[0]->ops->close(b.end[0]);
	fixture_nap(100);
	hear(b.end[1], &h[1], UINT64_MAX);
	assert_int_equal(h[1].next - 1, sent);
	halt(&b);
}

/* One end closes while the other end sends. Returns the number of messages that the first end has sent. */
static uint64_t fill_and_leave(struct bench *b)
{
	const uint64_t sent = fill(b);
	b->end[0]->ops->close(b->end[0]);
	for (uint64_t i = 1; i <= 10; i++) {
		assert_int_equal(post(b->end[1], i), 0);
		assert_int_equal(b->end[1]->ops->flush(b->end[1]), 0);
		fixture_nap(10);
	}
	return sent;
}

/* The same while the other end sends, too, and zipperd notices first that nobody takes its messages any more. */
static void last_words_cross_others(void **state)
{
	struct bench b;
	struct heard h[2];
	start(&b, *state, h);
	const uint64_t sent = fill_and_leave(&b);
	hear(b.end[1], &h[1], UINT64_MAX);
	assert_int_equal(h[1].next - 1, sent);
	halt(&b);
}

/* But they do not wait for ever: an end that does not take them either has had its time. */
static void last_words_that_nobody_hears(void **state)
{
	struct bench b;
	struct heard h[2];
	start(&b, *state, h);
	fill_and_leave(&b);
	assert_true(daemon_logged(&b.d, "circuit " FIXTURE_USER "/j/0-1: over"));
	halt(&b);
}

/* Nothing comes for a while, and the link lives: this end still waits for its other end. */
static void expect_waiting(struct zlink *z)
{
	const struct heard nothing = {.next = 1};
	struct heard h = nothing;
	const struct zsink sink = {.take = take, .ctx = &h};
	for (int i = 0; i < 50; i++) {
		assert_true(z->ops->poll(z, &sink, 16) >= 0);
		fixture_nap(2);
	}
	assert_memory_equal(&h, &nothing, sizeof(h));
}

/* An end meets only an end of the same user, job and name. Each first end waits for its own. */
static void ends_of_others_do_not_meet(void **state)
{
	static const struct {
		const char *user, *job, *name;
	} others[] = {{"other", "j", "2-3"}, {FIXTURE_USER, "k", "2-3"}, {FIXTURE_USER, "j", "2-4"}};
	enum { N = sizeof(others) / sizeof(others[0]) };
	struct zlink *first, *wrong[N], *right;
	struct heard h[2];
	struct bench b;
	start(&b, *state, h);
	first = ask_as(&b, 0, FIXTURE_USER, "j", "2-3");
	for (int i = 0; i < N; i++) {
		wrong[i] = ask_as(&b, 1, others[i].user, others[i].job, others[i].name);
		expect_waiting(wrong[i]);
	}
	expect_waiting(first);
	right = ask_as(&b, 1, FIXTURE_USER, "j", "2-3");
	memset(h, 0, sizeof(h));
	h[0].next = h[1].next = 1;
	assert_int_equal(hear(first, &h[0], 0), 0);
	assert_int_equal(hear(right, &h[1], 0), 0);
	first->ops->close(first);
	right->ops->close(right);
	for (int i = 0; i < N; i++)
		wrong[i]->ops->close(wrong[i]);
	b.end[0]->ops->close(b.end[0]);
	halt(&b);
}

static int take_error(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	assert_int_equal(zctl_decode(&msg, payload, env->len, &err), 0);
	assert_int_equal(msg.type, ZCTL_ERROR);
	snprintf(ctx, ZCTL_TEXT_MAX + 1, "%s", msg.u.error.text);
	return 0;
}

/* An end that waits in vain is told so, and zipperd forgets the circuit. */
static void nobody_waits_for_ever(void **state)
{
	char text[ZCTL_TEXT_MAX + 1] = "";
	struct bench b;
	(void)state;
	memset(&b, 0, sizeof(b));
	daemon_start(&b.d, "a=tcp:127.0.0.1:0 b=tcp:127.0.0.1:0", "meet_timeout=200ms");
	b.end[0] = ask(&b, 0);
	for (const int64_t end = fixture_now_ms() + PATIENCE_MS; !text[0];) {
		assert_true(b.end[0]->ops->poll(b.end[0], &(struct zsink){.take = take_error, .ctx = text}, 16) >= 0);
		assert_true(fixture_now_ms() < end);
		fixture_nap(2);
	}
	assert_string_equal(text, "nobody has asked for the other end of circuit 0-1 within 0.2 s (meet_timeout)");
	b.end[1] = ask(&b, 1);
	expect_waiting(b.end[1]);
	b.end[0]->ops->close(b.end[0]);
	b.end[1]->ops->close(b.end[1]);
	assert_int_equal(daemon_stop(&b.d), 0);
}

/* The highest level of the queues in front of ends that do not read. */
static uint64_t find_highest(struct bench *b)
{
	struct zctl_stats_reply stats;
	struct zerr err;
	uint64_t bytes = 0;
	assert_int_equal(zsession_stats(b->admin, &stats, &err), 0);
	for (uint32_t i = 0; i < stats.ndirs; i++)
		bytes = stats.dirs[i].queue_high_bytes > bytes ? stats.dirs[i].queue_high_bytes : bytes;
	zctl_stats_free(&stats);
	return bytes;
}

/* Bytes that wait in circuits count as their user's memory. A second circuit finds it used up, and goes on all the
 * same. */
static void waiting_takes_the_users_memory(void **state)
{
	struct bench b;
	struct heard h[2], second = {.next = 1};
	struct zlink *more[2];
	start_with(&b, *state, "memory=64M dest_share=16M user_memory=1M", h);
	const uint64_t sent = fill(&b);
	const uint64_t waiting = find_highest(&b);
	if (waiting > 1 << 20 || waiting < 1 << 19)
		fail_msg("%llu bytes wait, and the user has 1 MiB", (unsigned long long)waiting);
	for (int i = 0; i < 2; i++)
		more[i] = ask_as(&b, i, FIXTURE_USER, "j", "2-3");
	assert_int_equal(hear(more[0], &(struct heard){.next = 1}, 0), 0);
	for (uint64_t i = 1; i <= 200; i++) {
		while (post(more[0], i) != 0)
			hear(more[1], &second, second.next);
		assert_int_equal(more[0]->ops->flush(more[0]), 0);
	}
	hear(more[1], &second, 200);
	hear(b.end[1], &h[1], sent);
	for (int i = 0; i < 2; i++)
		more[i]->ops->close(more[i]);
	b.end[0]->ops->close(b.end[0]);
	halt(&b);
}

#define OVER(test, transport)                                                                                          \
	{                                                                                                              \
#test "_over_" transport, test, NULL, NULL, (void *)(uintptr_t)transport                               \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OVER(last_words, "tcp"),
		OVER(last_words, "shm"),
		OVER(last_words_cross_others, "tcp"),
		OVER(last_words_cross_others, "shm"),
		OVER(last_words_that_nobody_hears, "tcp"),
		OVER(ends_of_others_do_not_meet, "tcp"),
		OVER(ends_of_others_do_not_meet, "shm"),
		OVER(waiting_takes_the_users_memory, "tcp"),
		OVER(waiting_takes_the_users_memory, "shm"),
		cmocka_unit_test(nobody_waits_for_ever),
	};
	return cmocka_run_group_tests_name("circuits", tests, NULL, NULL);
}
