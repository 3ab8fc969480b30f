/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers through the real zipperd, between fake ranks over shm: agreeing, declining, ends and faults. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "test/unit/zipperd/daemon_fixture.h"

#define SHM "a,b=shm:%d/sock"
#define PATIENCE_MS 60000
#define SIZE 1000003u /* seven pieces and some bytes */
#define A 0	      /* the sender, of part 0 */
#define B 1	      /* the receiver, of part 1 */

struct bench {
	struct daemon_fixture d;
	struct fake_rank r[2];
	uint8_t *from, *to;
	struct zrma_exposure from_key, to_key;
};

static struct zlink *link_of(struct bench *b, int who)
{
	return b->r[who].link[!who];
}

static void post(struct bench *b, int who, struct zwire_env env, const void *payload)
{
	env.src = fake_station(&b->r[who], (uint32_t)who);
	env.dst = fake_station(&b->r[who], (uint32_t)!who);
	assert_int_equal(fake_post(&b->r[who], (uint32_t)!who, &env, payload), 0);
}

static int keep(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)raw;
	(void)payload;
	*(struct zwire_env *)ctx = *env;
	return 0;
}

/* The next envelope that comes; kind 0: the link ended. */
static struct zwire_env next(struct bench *b, int who)
{
	struct zwire_env env = {.kind = 0};
	struct zsink sink = {.take = keep, .ctx = &env};
	int64_t end = fixture_now_ms() + PATIENCE_MS;
	while (link_of(b, who)->ops->poll(link_of(b, who), &sink, 1) == 0) {
		assert_true(fixture_now_ms() < end);
		sched_yield();
	}
	return env;
}

static void expect(struct bench *b, int who, uint8_t kind, uint64_t xfer, uint64_t offset)
{
	struct zwire_env env = next(b, who);
	assert_string_equal(zwire_kind_name(env.kind), zwire_kind_name(kind));
	assert_int_equal(env.src, fake_station(&b->r[who], (uint32_t)!who));
	assert_int_equal(env.dst, fake_station(&b->r[who], (uint32_t)who));
	assert_int_equal(env.xfer, xfer);
	assert_int_equal(env.offset, offset);
	assert_int_equal(env.len, 0);
}

static void fill(uint8_t *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)((i * 2654435761u + seed) >> 11);
}

static const struct zrma *rma_of(struct bench *b, int who)
{
	return link_of(b, who)->ops->rma;
}

static void halt(struct bench *b)
{
	for (int i = 0; i < 2; i++)
		if (b->r[i].session)
			fake_bye(&b->r[i]);
	assert_int_equal(daemon_stop(&b->d), 0);
	free(b->from);
	free(b->to);
}

/* Two ranks with their channels. The answer to a message shows that a channel's set-up has ended. */
static void start_endpoint(struct bench *b, const char *options, uint32_t endpoint)
{
	memset(b, 0, sizeof(*b));
	daemon_start(&b->d, SHM, options);
	fake_init(&b->r[A], "j", "a,b", "a", 0, 1, b->d.addr);
	fake_init(&b->r[B], "j", "a,b", "b", 0, 1, b->d.addr);
	b->r[A].join.endpoints = b->r[B].join.endpoints = endpoint + 1;
	fake_join_all(b->r, 2);
	assert_int_equal(b->r[A].rc, 0);
	assert_int_equal(b->r[B].rc, 0);
	b->r[A].endpoint = b->r[B].endpoint = endpoint;
	assert_int_equal(fake_attach(&b->r[A], 1), 0);
	assert_int_equal(fake_attach(&b->r[B], 0), 0);
	post(b, A, (struct zwire_env){.kind = ZWIRE_ACK}, NULL);
	assert_int_equal(next(b, B).kind, ZWIRE_ACK);
	post(b, B, (struct zwire_env){.kind = ZWIRE_ACK}, NULL);
	assert_int_equal(next(b, A).kind, ZWIRE_ACK);
	b->from = malloc(SIZE);
	b->to = calloc(1, SIZE + 1);
	assert_true(b->from && b->to);
	fill(b->from, SIZE, 1);
	if (rma_of(b, A)->expose(link_of(b, A), ZLINK_TX, b->from, SIZE, &b->from_key) != 0 ||
		rma_of(b, B)->expose(link_of(b, B), ZLINK_RX, b->to, SIZE, &b->to_key) != 0) {
		print_message("# zipperd may not reach the memory of other processes here\n");
		halt(b);
		skip();
	}
}

static void start(struct bench *b, const char *options)
{
	start_endpoint(b, options, 0);
}

static void offer_key(struct bench *b, uint64_t xfer, uint64_t len, const uint8_t *key)
{
	post(b, A,
		(struct zwire_env){.kind = ZWIRE_RTS,
			.flags = ZWIRE_F_ONE_SIDED,
			.seq = xfer,
			.xfer = xfer,
			.offset = len,
			.len = ZRMA_KEY_BYTES},
		key);
}

/* A offers a message. B sees the offer without the key. */
static void offer(struct bench *b, uint64_t xfer, uint64_t len)
{
	offer_key(b, xfer, len, b->from_key.key);
	struct zwire_env env = next(b, B);
	assert_int_equal(env.kind, ZWIRE_RTS);
	assert_int_equal(env.flags, ZWIRE_F_ONE_SIDED);
	assert_int_equal(env.len, 0);
	assert_int_equal(env.xfer, xfer);
	assert_int_equal(env.offset, len);
}

static int try_answer(struct bench *b, uint64_t xfer, uint64_t len)
{
	const struct zwire_env env = {.kind = ZWIRE_CTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.src = fake_station(&b->r[B], B),
		.dst = fake_station(&b->r[B], A),
		.xfer = xfer,
		.comm = xfer + 1000,
		.offset = len,
		.len = ZRMA_KEY_BYTES};
	return fake_post(&b->r[B], 0, &env, b->to_key.key);
}

static void answer(struct bench *b, uint64_t xfer, uint64_t len)
{
	assert_int_equal(try_answer(b, xfer, len), 0);
}

static void move_lengths(uint32_t endpoint)
{
	static const uint64_t lengths[] = {1, 4095, 131072, 131073, SIZE};
	struct bench b;
	start_endpoint(&b, NULL, endpoint);
	for (uint64_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(b.to, 0xee, SIZE + 1);
		offer(&b, i + 1, lengths[i]);
		answer(&b, i + 1, lengths[i]);
		expect(&b, B, ZWIRE_MOVED, i + 1001, lengths[i]);
		expect(&b, A, ZWIRE_DONE, i + 1, 0);
		assert_memory_equal(b.from, b.to, lengths[i]);
		assert_int_equal(b.to[lengths[i]], 0xee);
	}
	halt(&b);
}

static void moves_messages_of_any_length(void **state)
{
	(void)state;
	move_lengths(0);
}

static void moves_between_further_endpoints(void **state)
{
	(void)state;
	move_lengths(2);
}

/* More transfers than fit into the staging memory at a time, answered in another order. There are only two pieces. */
static void moves_many_at_a_time(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "one_sided_bytes=16K frag_bytes=8K");
	for (uint64_t i = 1; i <= 40; i++)
		offer(&b, i, 20000 + i);
	for (uint64_t i = 40; i >= 1; i--)
		answer(&b, i, 20000 + i);
	for (uint64_t i = 40; i >= 1; i--) {
		expect(&b, B, ZWIRE_MOVED, i + 1000, 20000 + i);
		expect(&b, A, ZWIRE_DONE, i, 0);
	}
	assert_memory_equal(b.from, b.to, 20000);
	halt(&b);
}

/* The receiver's acknowledgement does not get lost with its CTS. */
static void acknowledges_at_the_end(void **state)
{
	struct bench b;
	(void)state;
	start(&b, NULL);
	offer(&b, 1, 5000);
	post(&b, B,
		(struct zwire_env){.kind = ZWIRE_CTS,
			.flags = ZWIRE_F_ONE_SIDED,
			.xfer = 1,
			.comm = 7,
			.offset = 5000,
			.len = ZRMA_KEY_BYTES,
			.ack = 1},
		b.to_key.key);
	expect(&b, B, ZWIRE_MOVED, 7, 5000);
	struct zwire_env env = next(&b, A);
	assert_int_equal(env.kind, ZWIRE_DONE);
	assert_int_equal(env.ack, 1);
	halt(&b);
}

static void receiver_may_decline(void **state)
{
	struct bench b;
	(void)state;
	start(&b, NULL);
	offer(&b, 1, SIZE);
	post(&b, B,
		(struct zwire_env){.kind = ZWIRE_CTS, .flags = ZWIRE_F_ONE_SIDED, .xfer = 1, .comm = 5, .offset = 4096},
		NULL);
	expect(&b, A, ZWIRE_CTS, 1, 4096);
	answer(&b, 1, SIZE); /* too late */
	expect(&b, B, ZWIRE_MOVED, 1001, 0);
	offer(&b, 2, SIZE);
	post(&b, B, (struct zwire_env){.kind = ZWIRE_DONE, .flags = ZWIRE_F_ONE_SIDED, .xfer = 2}, NULL);
	expect(&b, A, ZWIRE_DONE, 2, 0);
	answer(&b, 2, SIZE);
	expect(&b, B, ZWIRE_MOVED, 1002, 0);
	halt(&b);
}

/* Keys for transfers that were not offered, or not so: nothing is moved, and the receiver hears that. */
static void wrong_answers_move_nothing(void **state)
{
	struct bench b;
	(void)state;
	start(&b, NULL);
	offer(&b, 1, 5000);
	answer(&b, 2, 5000);
	expect(&b, B, ZWIRE_MOVED, 1002, 0);
	answer(&b, 1, 5001);
	expect(&b, B, ZWIRE_MOVED, 1001, 0);
	assert_int_equal(b.to[0], 0);
	answer(&b, 1, 5000);
	expect(&b, B, ZWIRE_MOVED, 1001, 5000);
	expect(&b, A, ZWIRE_DONE, 1, 0);
	halt(&b);
}

static void can_be_switched_off(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "one_sided_bytes=0");
	offer_key(&b, 1, SIZE, b.from_key.key);
	struct zwire_env env = next(&b, B);
	assert_int_equal(env.kind, ZWIRE_RTS);
	assert_int_equal(env.flags, 0);
	assert_int_equal(env.len, 0);
	answer(&b, 1, SIZE);
	expect(&b, B, ZWIRE_MOVED, 1001, 0);
	halt(&b);
}

/* More offers than zipperd remembers: the last ones are plain requests. */
static void offers_are_bounded(void **state)
{
	struct bench b;
	uint64_t kept = 0;
	(void)state;
	start(&b, NULL);
	for (uint64_t i = 1; i <= 1100; i++) {
		offer_key(&b, i, SIZE, b.from_key.key);
		struct zwire_env env = next(&b, B);
		assert_int_equal(env.kind, ZWIRE_RTS);
		assert_int_equal(env.xfer, i);
		kept += env.flags == ZWIRE_F_ONE_SIDED;
	}
	assert_int_equal(kept, 1024);
	answer(&b, 1024, SIZE);
	expect(&b, B, ZWIRE_MOVED, 2024, SIZE);
	halt(&b);
}

static bool receiver_is_dead(struct fake_rank *r, int n)
{
	(void)n;
	return r[B].dead;
}

static void run_until_receiver_is_dead(struct bench *b)
{
	struct fake_rank *only = b->r;
	only[A].deaf = only[B].deaf = true; /* the test ignores what comes */
	int64_t end = fixture_now_ms() + PATIENCE_MS;
	while (!receiver_is_dead(only, 2)) {
		fake_turn(&only[B]);
		assert_true(fixture_now_ms() < end);
		sched_yield();
	}
}

/* A key that leads nowhere costs the rank that gave it, and its job. zipperd goes on. */
static void bad_key(bool senders)
{
	struct bench b;
	uint8_t *hole = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct zrma_exposure bad;
	assert_true(hole != MAP_FAILED);
	start(&b, NULL);
	assert_int_equal(rma_of(&b, A)->expose(link_of(&b, senders ? A : B), senders ? ZLINK_TX : ZLINK_RX, hole, SIZE,
				 &bad),
		0);
	memcpy(senders ? b.from_key.key : b.to_key.key, bad.key, sizeof(bad.key));
	offer(&b, 1, SIZE);
	answer(&b, 1, SIZE);
	run_until_receiver_is_dead(&b);
	assert_non_null(strstr(b.r[B].dead_text, senders ? "rank 0" : "rank 1"));
	for (int i = 0; i < 2; i++)
		fake_kill(&b.r[i]);
	b.r[A].session = b.r[B].session = NULL;
	assert_true(daemon_logged(&b.d, "data connection broke: Bad address"));
	halt(&b);
	munmap(hole, SIZE);
}

static void bad_key_of_the_sender(void **state)
{
	(void)state;
	bad_key(true);
}

static void bad_key_of_the_receiver(void **state)
{
	(void)state;
	bad_key(false);
}

/* The sender dies with offers and a transfer under way. */
static void sender_dies(void **state)
{
	struct bench b;
	(void)state;
	start(&b, NULL);
	for (uint64_t i = 1; i <= 10; i++)
		offer(&b, i, SIZE);
	for (uint64_t i = 1; i <= 5; i++)
		answer(&b, i, SIZE);
	fake_kill(&b.r[A]);
	b.r[A].session = NULL;
	for (uint64_t i = 6; i <= 10; i++)
		if (try_answer(&b, i, SIZE) != 0)
			break; /* the job is over by now */
	run_until_receiver_is_dead(&b);
	assert_non_null(strstr(b.r[B].dead_text, "rank 0"));
	fake_kill(&b.r[B]);
	b.r[B].session = NULL;
	halt(&b);
}

static void breaking_the_rules_ends_the_job(void **state)
{
	const struct zwire_env bad[] = {
		{.kind = ZWIRE_RTS, .seq = 1, .len = ZRMA_KEY_BYTES},	   /* a key without the flag */
		{.kind = ZWIRE_RTS, .seq = 1, .flags = ZWIRE_F_ONE_SIDED}, /* and the other way */
		{.kind = ZWIRE_RTS, .seq = 1, .flags = ZWIRE_F_ONE_SIDED, .len = 99},
		{.kind = ZWIRE_CTS, .len = ZRMA_KEY_BYTES},
		{.kind = ZWIRE_CTS, .flags = ZWIRE_F_ONE_SIDED, .len = ZRMA_KEY_BYTES + 1},
		{.kind = ZWIRE_DONE, .flags = ZWIRE_F_ONE_SIDED, .len = ZRMA_KEY_BYTES},
		{.kind = ZWIRE_EAGER, .seq = 1, .flags = ZWIRE_F_ONE_SIDED},
		{.kind = ZWIRE_DATA, .flags = ZWIRE_F_ONE_SIDED}, {.kind = ZWIRE_ACK, .flags = ZWIRE_F_ONE_SIDED},
		{.kind = ZWIRE_MOVED}, /* zipperd's own */
	};
	static const uint8_t zeros[128];
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bench b;
		start(&b, NULL);
		post(&b, A, bad[i], zeros);
		run_until_receiver_is_dead(&b);
		assert_non_null(strstr(b.r[B].dead_text, "rank 0 (a rank 0 on host0) broke the protocol"));
		for (int k = 0; k < 2; k++)
			fake_kill(&b.r[k]);
		b.r[A].session = b.r[B].session = NULL;
		halt(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_messages_of_any_length),
		cmocka_unit_test(moves_between_further_endpoints),
		cmocka_unit_test(moves_many_at_a_time),
		cmocka_unit_test(acknowledges_at_the_end),
		cmocka_unit_test(receiver_may_decline),
		cmocka_unit_test(wrong_answers_move_nothing),
		cmocka_unit_test(can_be_switched_off),
		cmocka_unit_test(offers_are_bounded),
		cmocka_unit_test(bad_key_of_the_sender),
		cmocka_unit_test(bad_key_of_the_receiver),
		cmocka_unit_test(sender_dies),
		cmocka_unit_test(breaking_the_rules_ends_the_job),
	};
	return cmocka_run_group_tests_name("one-sided transfers", tests, NULL, NULL);
}
