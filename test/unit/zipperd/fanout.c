/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided transfers to several receivers through the real zipperd (zipperd/lane/fanout.h), between fake ranks over
 * shm: of what the root offers once every receiver gets all, and it is read once for those who go together.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/daemon_fixture.h"

#define SHM "a,b,c,d=shm:%d/sock"
#define PATIENCE_MS 60000
#define SIZE 1000003u /* seven pieces and some bytes */
#define RANKS 6	      /* a 0; b 0, 1; c 0, 1; d 0: vranks 0 to 5, of which 0 is the root */
#define RECEIVERS (RANKS - 1)
#define CARRIER 2     /* part */
#define LONG_MS 60000 /* patience of zipperd where no receiver is to be left behind */

struct bench {
	struct daemon_fixture d;
	uint32_t endpoint; /* the endpoint of all ranks whose channels these are */
	struct fake_rank r[RANKS];
	uint8_t *from, *to[RANKS];
	struct zrma_exposure key[RANKS];
};

static uint32_t station_of(const struct bench *b, int v)
{
	return fake_station(&b->r[0], (uint32_t)v);
}

/* The receiver of a message of the root, and the sender of a message of the others. */
static uint32_t part_of(int v)
{
	return (uint32_t)(v == 0 ? 0 : v < 3 ? 1 : v < 5 ? 2 : 3);
}

static struct zlink *link_of(struct bench *b, int who, int other)
{
	return b->r[who].link[part_of(other)];
}

static int keep(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)raw;
	(void)payload;
	*(struct zwire_env *)ctx = *env;
	return 0;
}

/* The next message for `who` from (or for) `other`; kind 0: nothing within so many ms. */
static struct zwire_env next_within(struct bench *b, int who, int other, int ms)
{
	struct zwire_env env = {.kind = 0};
	struct zsink sink = {.take = keep, .ctx = &env};
	struct zlink *z = link_of(b, who, other);
	for (int64_t end = fixture_now_ms() + ms; z->ops->poll(z, &sink, 1) == 0 && fixture_now_ms() < end;)
		sched_yield();
	return env;
}

static void expect(struct bench *b, int who, int other, uint8_t kind, uint64_t xfer, uint64_t offset)
{
	struct zwire_env env = next_within(b, who, other, PATIENCE_MS);
	assert_string_equal(zwire_kind_name(env.kind), zwire_kind_name(kind));
	assert_int_equal(env.src, station_of(b, other));
	assert_int_equal(env.xfer, xfer);
	assert_int_equal(env.offset, offset);
}

static void fill(uint8_t *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)((i * 2654435761u + seed) >> 11);
}

static void join(struct bench *b, const char *job)
{
	static const char *const part[RANKS] = {"a", "b", "b", "c", "c", "d"};
	static const uint32_t rank[RANKS] = {0, 0, 1, 0, 1, 0}, size[RANKS] = {1, 2, 2, 2, 2, 1};
	for (int i = 0; i < RANKS; i++)
		fake_init(&b->r[i], job, "a,b,c,d", part[i], rank[i], size[i], b->d.addr);
	for (int i = 0; i < RANKS; i++)
		b->r[i].join.endpoints = b->endpoint + 1;
	fake_join_all(b->r, RANKS);
	for (int i = 0; i < RANKS; i++) {
		assert_int_equal(b->r[i].rc, 0);
		b->r[i].endpoint = b->endpoint;
	}
	for (uint32_t p = 1; p < 4; p++)
		assert_int_equal(fake_attach(&b->r[0], p), 0);
	for (int v = 1; v < RANKS; v++)
		assert_int_equal(fake_attach(&b->r[v], 0), 0);
	b->r[0].carrier = CARRIER;
}

static void halt(struct bench *b)
{
	for (int i = 0; i < RANKS; i++) {
		if (b->r[i].session)
			fake_bye(&b->r[i]);
		free(b->to[i]);
	}
	free(b->from);
	assert_int_equal(daemon_stop(&b->d), 0);
}

/* A message over a channel shows that its set-up has ended. */
static void greet(struct bench *b, int from, int to)
{
	const struct zwire_env env = {.kind = ZWIRE_ACK, .src = station_of(b, from), .dst = station_of(b, to)};
	assert_int_equal(fake_post(&b->r[from], part_of(to), &env, NULL), 0);
	link_of(b, from, to)->ops->flush(link_of(b, from, to));
	assert_int_equal(next_within(b, to, from, PATIENCE_MS).kind, ZWIRE_ACK);
}

static void expose_all(struct bench *b)
{
	bool may = true;
	fill(b->from, SIZE, 1);
	for (int v = 1; v < RANKS; v++) {
		greet(b, 0, v);
		greet(b, v, 0);
	}
	for (int v = 0; v < RANKS; v++) {
		struct zlink *z = v ? link_of(b, v, 0) : b->r[0].link[CARRIER];
		memset(b->to[v], 0xee, SIZE + 1);
		may &= z->ops->rma->expose(z, v ? ZLINK_RX : ZLINK_TX, v ? b->to[v] : b->from, SIZE, &b->key[v]) == 0;
	}
	if (may)
		return;
	print_message("# zipperd may not reach the memory of other processes here\n");
	halt(b);
	skip();
}

static void start_endpoint(struct bench *b, const char *options, uint32_t endpoint)
{
	memset(b, 0, sizeof(*b));
	b->endpoint = endpoint;
	daemon_start(&b->d, SHM, options);
	b->from = malloc(SIZE);
	assert_non_null(b->from);
	for (int v = 0; v < RANKS; v++)
		assert_non_null(b->to[v] = malloc(SIZE + 1));
	join(b, "j");
	expose_all(b);
}

static void start(struct bench *b, const char *options)
{
	start_endpoint(b, options, 0);
}

static void offer_with(struct bench *b, uint64_t seq, uint64_t len, int patience_ms, int n, const uint8_t *key)
{
	struct zwire_receiver list[RECEIVERS];
	const struct zwire_env env = {.kind = ZWIRE_RTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.src = station_of(b, 0),
		.dst = ZWIRE_NOBODY,
		.xfer = (uint64_t)patience_ms,
		.offset = len,
		.len = ZRMA_KEY_BYTES};
	for (int i = 0; i < n; i++)
		list[i] = (struct zwire_receiver){.dst = station_of(b, i + 1),
			.seq = seq,
			.xfer = seq * 100 + (uint64_t)i + 1};
	assert_int_equal(fake_post_list(&b->r[0], list, n, &env, key), 0);
	b->r[0].link[CARRIER]->ops->flush(b->r[0].link[CARRIER]);
}

/* The root offers len bytes to the first n receivers; they see it, without the key. Transfer ids: 100 * seq + vrank. */
static void offer(struct bench *b, uint64_t seq, uint64_t len, int patience_ms, int n)
{
	offer_with(b, seq, len, patience_ms, n, b->key[0].key);
	for (int v = 1; v <= n; v++) {
		struct zwire_env env = next_within(b, v, 0, PATIENCE_MS);
		assert_int_equal(env.kind, ZWIRE_RTS);
		assert_int_equal(env.flags, ZWIRE_F_ONE_SIDED);
		assert_int_equal(env.dst, station_of(b, v));
		assert_int_equal(env.seq, seq);
		assert_int_equal(env.xfer, seq * 100 + (uint64_t)v);
		assert_int_equal(env.len, 0);
		assert_int_equal(env.offset, len);
	}
}

/* The receiver's CTS for len bytes, with the key to its memory or without. */
static void grant(struct bench *b, int v, uint64_t seq, uint64_t len, const uint8_t *key)
{
	const struct zwire_env env = {.kind = ZWIRE_CTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.src = station_of(b, v),
		.dst = station_of(b, 0),
		.xfer = seq * 100 + (uint64_t)v,
		.comm = seq + 1000,
		.ack = seq,
		.offset = len,
		.len = key ? ZRMA_KEY_BYTES : 0};
	assert_int_equal(fake_post(&b->r[v], 0, &env, key), 0);
	link_of(b, v, 0)->ops->flush(link_of(b, v, 0));
}

static void answer(struct bench *b, int v, uint64_t seq, uint64_t len)
{
	grant(b, v, seq, len, b->key[v].key);
}

static void expect_all_of_it(struct bench *b, int v, uint64_t seq, uint64_t len)
{
	expect(b, v, 0, ZWIRE_MOVED, seq + 1000, len);
	expect(b, 0, v, ZWIRE_DONE, seq * 100 + (uint64_t)v, 0);
	assert_memory_equal(b->from, b->to[v], len);
	assert_int_equal(b->to[v][len], 0xee);
}

struct counted {
	uint64_t bytes, shared, copied;
};

static struct counted count(struct bench *b)
{
	struct zctl_stats_reply stats;
	struct zsession_params p;
	struct counted c = {0};
	struct zsession *s;
	struct zerr err;
	fixture_params(&p, b->d.addr, "j");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, &err), 0);
	assert_int_equal(zsession_stats(s, &stats, &err), 0);
	zsession_close(s);
	for (uint32_t i = 0; i < stats.ndirs; i++) {
		c.bytes += stats.dirs[i].bytes;
		c.shared += stats.dirs[i].shared_bytes;
		c.copied += stats.dirs[i].copied_bytes;
	}
	zctl_free(&(struct zctl_msg){.type = ZCTL_STATS_REPLY, .u.stats = stats});
	return c;
}

static void all_get_what_is_read_once(const char *options, uint32_t endpoint)
{
	static const uint64_t lengths[] = {1, 4096, 131073, SIZE};
	struct bench b;
	uint64_t total = 0;
	start_endpoint(&b, options, endpoint);
	for (uint64_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int v = 1; v < RANKS; v++)
			memset(b.to[v], 0xee, SIZE + 1);
		offer(&b, i + 1, lengths[i], LONG_MS, RECEIVERS);
		for (int v = RECEIVERS; v > 0; v--)
			answer(&b, v, i + 1, lengths[i]);
		for (int v = 1; v < RANKS; v++)
			expect_all_of_it(&b, v, i + 1, lengths[i]);
		total += lengths[i];
	}
	struct counted c = count(&b);
	assert_int_equal(c.bytes, RECEIVERS * total);
	assert_int_equal(c.shared, (RECEIVERS - 1) * total);
	assert_int_equal(c.copied, 0);
	halt(&b);
}

static void all_get_what_is_read_once_by_one_thread(void **state)
{
	(void)state;
	all_get_what_is_read_once("threads=pair", 0);
}

static void all_get_what_is_read_once_by_several_threads(void **state)
{
	(void)state;
	all_get_what_is_read_once("threads=direction", 0);
}

static void further_endpoints_get_what_is_read_once(void **state)
{
	(void)state;
	all_get_what_is_read_once(NULL, 2);
}

/* More than the staging can hold at a time (two pieces), answered in all orders. */
static void many_at_a_time(void **state)
{
	enum { N = 30 };
	struct bench b;
	(void)state;
	start(&b, "one_sided_bytes=16K frag_bytes=8K threads=direction");
	for (uint64_t i = 1; i <= N; i++)
		offer(&b, i, 20000 + i, LONG_MS, RECEIVERS);
	for (uint64_t i = N; i >= 1; i--)
		for (int v = 1; v < RANKS; v++)
			answer(&b, v, (uint64_t)v % 2 ? i : N + 1 - i, (uint64_t)v % 2 ? 20000 + i : 20000 + N + 1 - i);
	for (int v = 1; v < RANKS; v++) {
		uint64_t sum = 0;
		for (uint64_t i = 1; i <= N; i++) {
			struct zwire_env env = next_within(&b, v, 0, PATIENCE_MS);
			assert_int_equal(env.kind, ZWIRE_MOVED);
			assert_int_equal(env.offset, 20000 + env.xfer - 1000);
			sum += env.xfer - 1000;
		}
		assert_int_equal(sum, N * (N + 1) / 2);
		assert_memory_equal(b.from, b.to[v], 20000 + N);
	}
	halt(&b);
}

/* A receiver that wants fragments, or nothing at all, leaves the fan-out; the others need not wait for it. */
static void some_decline(void **state)
{
	struct bench b;
	(void)state;
	start(&b, NULL);
	offer(&b, 1, SIZE, LONG_MS, RECEIVERS);
	grant(&b, 2, 1, 4096, NULL);
	expect(&b, 0, 2, ZWIRE_CTS, 102, 4096);
	answer(&b, 2, 1, SIZE); /* too late */
	expect(&b, 2, 0, ZWIRE_MOVED, 1001, 0);
	for (int v = 1; v < RANKS; v++)
		if (v != 2)
			answer(&b, v, 1, SIZE);
	for (int v = 1; v < RANKS; v++)
		if (v != 2)
			expect_all_of_it(&b, v, 1, SIZE);
	assert_int_equal(b.to[2][0], 0xee);
	assert_int_equal(count(&b).shared, 3 * (uint64_t)SIZE);
	halt(&b);
}

/* The others do not wait longer than the root says, and a late receiver gets the message all the same. */
static void late_ones_get_it_later(void **state)
{
	struct bench b;
	(void)state;
	start(&b, NULL);
	offer(&b, 1, SIZE, 30, RECEIVERS);
	answer(&b, 1, 1, SIZE);
	answer(&b, 3, 1, SIZE);
	expect_all_of_it(&b, 1, 1, SIZE);
	expect_all_of_it(&b, 3, 1, SIZE);
	assert_int_equal(next_within(&b, 5, 0, 20).kind, 0);
	for (int v = 2; v < RANKS; v++)
		if (v != 3)
			answer(&b, v, 1, SIZE);
	for (int v = 2; v < RANKS; v++)
		if (v != 3)
			expect_all_of_it(&b, v, 1, SIZE);
	assert_int_equal(count(&b).bytes, RECEIVERS * (uint64_t)SIZE);
	assert_true(count(&b).shared <= 3 * (uint64_t)SIZE); /* 2 + 3, in two rounds or more */
	halt(&b);
}

static void can_be_switched_off(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "one_sided_bytes=0");
	offer_with(&b, 1, SIZE, LONG_MS, RECEIVERS, b.key[0].key);
	for (int v = 1; v < RANKS; v++) {
		struct zwire_env env = next_within(&b, v, 0, PATIENCE_MS);
		assert_int_equal(env.kind, ZWIRE_RTS);
		assert_int_equal(env.flags, 0);
		assert_int_equal(env.len, 0);
		assert_int_equal(env.xfer, 100 + v);
	}
	halt(&b);
}

static void end_of_job(struct bench *b)
{
	int64_t end = fixture_now_ms() + PATIENCE_MS;
	for (int v = 0; v < RANKS; v++) {
		b->r[v].deaf = true; /* the test ignores what comes */
		while (b->r[v].session && !b->r[v].dead) {
			fake_turn(&b->r[v]);
			assert_true(fixture_now_ms() < end);
			sched_yield();
		}
	}
	for (int v = 0; v < RANKS; v++) {
		if (b->r[v].session)
			fake_kill(&b->r[v]);
		b->r[v].session = NULL;
	}
}

/* zipperd goes on for others: the next job has all of its staging memory. */
static void next_job_goes_well(struct bench *b)
{
	for (int v = 0; v < RANKS; v++)
		memset(&b->r[v], 0, sizeof(b->r[v]));
	join(b, "k");
	expose_all(b);
	for (uint64_t i = 1; i <= 4; i++) {
		offer(b, i, SIZE, LONG_MS, RECEIVERS);
		for (int v = 1; v < RANKS; v++)
			answer(b, v, i, SIZE);
		for (int v = 1; v < RANKS; v++)
			expect_all_of_it(b, v, i, SIZE);
	}
	halt(b);
}

static void one_dies(int who, int answered)
{
	struct bench b;
	start(&b, "one_sided_bytes=64K frag_bytes=8K threads=direction");
	for (uint64_t i = 1; i <= 5; i++)
		offer(&b, i, SIZE, 5, RECEIVERS);
	for (uint64_t i = 1; i <= 5; i++)
		for (int v = 1; v <= answered; v++)
			answer(&b, v, i, SIZE);
	fixture_nap(10);
	fake_kill(&b.r[who]);
	b.r[who].session = NULL;
	end_of_job(&b);
	next_job_goes_well(&b);
}

static void the_root_dies(void **state)
{
	(void)state;
	one_dies(0, RECEIVERS);
}

static void a_receiver_dies(void **state)
{
	(void)state;
	one_dies(3, RECEIVERS);
}

static void one_that_has_not_answered_dies(void **state)
{
	(void)state;
	one_dies(5, 4);
}

/* A key that leads nowhere costs the root, and its job. */
static void a_bad_key_ends_the_job(void **state)
{
	uint8_t nonsense[ZRMA_KEY_BYTES];
	struct bench b;
	(void)state;
	start(&b, NULL);
	memset(nonsense, 0x41, sizeof(nonsense));
	offer_with(&b, 1, SIZE, LONG_MS, RECEIVERS, nonsense);
	for (int v = 1; v < RANKS; v++) {
		assert_int_equal(next_within(&b, v, 0, PATIENCE_MS).kind, ZWIRE_RTS);
		answer(&b, v, 1, SIZE);
	}
	end_of_job(&b);
	next_job_goes_well(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_get_what_is_read_once_by_one_thread),
		cmocka_unit_test(all_get_what_is_read_once_by_several_threads),
		cmocka_unit_test(further_endpoints_get_what_is_read_once),
		cmocka_unit_test(many_at_a_time),
		cmocka_unit_test(some_decline),
		cmocka_unit_test(late_ones_get_it_later),
		cmocka_unit_test(can_be_switched_off),
		cmocka_unit_test(the_root_dies),
		cmocka_unit_test(a_receiver_dies),
		cmocka_unit_test(one_that_has_not_answered_dies),
		cmocka_unit_test(a_bad_key_ends_the_job),
	};
	return cmocka_run_group_tests_name("fan-outs", tests, NULL, NULL);
}
