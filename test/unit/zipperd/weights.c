/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes that share a worker: each has its part by its weight, whatever its sources and its messages are like. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zipperd/lane/worker.h"
#include "zipperd/worker/sources.h"

#define LANES 3
#define SOURCES 8 /* of a lane, at most */
#define SLACK (4u * DEFICIT_QUANTUM)

/* A link that always has messages of this size, as long as any are left. */
struct endless_link {
	struct zlink base;
	uint32_t len, left;
	uint64_t taken; /* as messages count */
};

static int endless_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	static const uint8_t raw[ZWIRE_ENV_BYTES], payload[1];
	struct endless_link *l = (struct endless_link *)z;
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .len = l->len};
	unsigned n = 0;
	while (n < budget && l->left > 0 && sink->take(sink->ctx, &env, raw, payload) == 0) {
		n++;
		l->left--;
		l->taken += l->len + DEFICIT_MESSAGE;
	}
	return (int)n;
}

static int endless_arm(struct zlink *z, enum zlink_half half)
{
	(void)half;
	return ((struct endless_link *)z)->left > 0;
}

static int endless_post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	(void)z;
	(void)env;
	(void)payload;
	(void)len;
	return 0;
}

static int endless_flush(struct zlink *z)
{
	(void)z;
	return 0;
}

static const struct ztransport endless = {.name = "endless",
	.poll = endless_poll,
	.arm = endless_arm,
	.post = endless_post,
	.flush = endless_flush};

struct bench {
	struct worker w;
	struct lane *lane[LANES];
	struct source s[LANES][SOURCES];
	struct tx tx[LANES];
	struct endless_link from[LANES][SOURCES], to[LANES];
};

static void start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	struct list *lists[] = {&b->w.hot, &b->w.cold, &b->w.stalled, &b->w.touched, &b->w.blocked};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	for (int l = 0; l < LANES; l++) {
		b->lane[l] = lane_create_circuit();
		assert_non_null(b->lane[l]);
		b->lane[l]->worker = &b->w;
		b->lane[l]->limits.dest_share = 1 << 20;
		b->to[l].base.ops = &endless;
		b->tx[l].zlink = &b->to[l].base;
		b->tx[l].lane = b->lane[l];
		dest_add_tx(&b->w, lane_dest(b->lane[l], 0), &b->tx[l]);
	}
}

static void add(struct bench *b, int lane, int source, uint32_t len, uint32_t left)
{
	struct source *s = &b->s[lane][source];
	b->from[lane][source] = (struct endless_link){.base.ops = &endless, .len = len, .left = left};
	s->zlink = &b->from[lane][source].base;
	s->lane = b->lane[lane];
	half_move_source(s, &b->w.hot, SOURCE_HOT);
}

/* Rounds until all lanes together have taken so much. */
static void run(struct bench *b, uint64_t bytes)
{
	for (uint64_t all = 0; all < bytes;) {
		assert_true(sources_poll(&b->w));
		dest_flush_touched(&b->w);
		all = 0;
		for (int l = 0; l < LANES; l++)
			for (int i = 0; i < SOURCES; i++)
				all += b->from[l][i].taken;
	}
}

static uint64_t taken(const struct bench *b, int lane)
{
	uint64_t sum = 0;
	for (int i = 0; i < SOURCES; i++)
		sum += b->from[lane][i].taken;
	return sum;
}

static void assert_near(uint64_t a, uint64_t b, uint64_t slack)
{
	if (a > b + slack || b > a + slack)
		fail_msg("%llu and %llu", (unsigned long long)a, (unsigned long long)b);
}

static void halt(struct bench *b)
{
	for (int l = 0; l < LANES; l++) {
		for (int i = 0; i < SOURCES; i++)
			if (b->s[l][i].lane)
				half_move_source(&b->s[l][i], NULL, SOURCE_GONE);
		assert_int_equal(b->lane[l]->deficit.hot, 0);
		dest_drop_tx(&b->w, &b->tx[l]);
		half_clear_lane(&b->w, b->lane[l]);
		lane_destroy(b->lane[l]);
	}
	assert_int_equal(b->w.hot_sources, 0);
	assert_int_equal(b->w.hot_lanes, 0);
}

/* Eight sources with large messages beside one with large ones, and one with small ones. */
static void sources_do_not_count(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	for (int i = 0; i < SOURCES; i++)
		add(&b, 0, i, 128 << 10, UINT32_MAX);
	add(&b, 1, 0, 128 << 10, UINT32_MAX);
	add(&b, 2, 0, 8, UINT32_MAX);
	run(&b, 300u << 20);
	assert_near(taken(&b, 0), taken(&b, 1), SLACK);
	assert_near(taken(&b, 0), taken(&b, 2), SLACK);
	/* the sources of a lane take turns */
	for (int i = 1; i < SOURCES; i++)
		assert_near(b.from[0][0].taken, b.from[0][i].taken, 256 << 10);
	halt(&b);
}

static void weights_count(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	b.lane[1]->deficit.weight = 3;
	b.lane[2]->deficit.weight = 10;
	for (int i = 0; i < SOURCES; i++)
		add(&b, 0, i, 64 << 10, UINT32_MAX);
	add(&b, 1, 0, 1000, UINT32_MAX);
	add(&b, 2, 0, 100000, UINT32_MAX);
	run(&b, 300u << 20);
	assert_near(3 * taken(&b, 0), taken(&b, 1), 10 * SLACK);
	assert_near(10 * taken(&b, 0), taken(&b, 2), 10 * SLACK);
	halt(&b);
}

/* What a lane with few messages leaves goes to the others, and is not saved up. */
static void nothing_is_saved(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	add(&b, 0, 0, 128 << 10, UINT32_MAX);
	add(&b, 1, 0, 128 << 10, 0);
	run(&b, 50u << 20);
	assert_int_equal(taken(&b, 1), 0);
	const uint64_t before = taken(&b, 0);
	b.from[1][0].left = UINT32_MAX;
	if (b.s[1][0].state == SOURCE_COLD)
		half_move_source(&b.s[1][0], &b.w.hot, SOURCE_HOT);
	run(&b, before + (50u << 20));
	assert_near(taken(&b, 0) - before, taken(&b, 1), SLACK);
	halt(&b);
}

/* A small message beside large ones is taken before a lane has had more than its part. */
static void small_ones_do_not_wait(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	for (int i = 0; i < SOURCES; i++)
		add(&b, 0, i, 128 << 10, UINT32_MAX);
	add(&b, 1, 0, 8, 0);
	for (int turn = 0; turn < 30; turn++) {
		const uint64_t before = taken(&b, 0);
		b.from[1][0].left = 1;
		if (b.s[1][0].state != SOURCE_HOT) /* as epoll would tell */
			half_move_source(&b.s[1][0], &b.w.hot, SOURCE_HOT);
		while (b.from[1][0].left > 0)
			sources_poll(&b.w);
		assert_true(taken(&b, 0) - before <= 2 * ((128 << 10) + DEFICIT_MESSAGE));
	}
	halt(&b);
}

/* Its bytes are counted for the next look at epoll, whether or not the lane is alone. */
static void bytes_are_counted(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	add(&b, 0, 0, 1000, 5);
	assert_true(sources_poll(&b.w));
	assert_int_equal(b.w.unlooked, 5000);
	add(&b, 1, 0, 1000, 5);
	b.from[0][0].left = 5;
	while (b.from[0][0].left + b.from[1][0].left > 0)
		assert_true(sources_poll(&b.w));
	assert_int_equal(b.w.unlooked, 5000 + 2 * 5 * 1000);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_do_not_count),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(nothing_is_saved),
		cmocka_unit_test(small_ones_do_not_wait),
		cmocka_unit_test(bytes_are_counted),
	};
	return cmocka_run_group_tests_name("lanes that share a worker", tests, NULL, NULL);
}
