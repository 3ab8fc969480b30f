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
	bool single;	/* gives one message in a poll, as TCP does with large ones */
	uint64_t taken; /* as messages count */
};

static int endless_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	static const uint8_t raw[ZWIRE_ENV_BYTES], payload[1];
	struct endless_link *l = (struct endless_link *)z;
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .len = l->len};
	unsigned n = 0;
	if (l->single && budget > 1)
		budget = 1;
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

/* As the thread does it, which looks at epoll in between. */
static bool turn(struct bench *b)
{
	const bool moved = sources_poll(&b->w);
	dest_flush_touched(&b->w);
	b->w.unlooked = 0;
	return moved;
}

/* Turns until all lanes together have taken so much. */
static void run(struct bench *b, uint64_t bytes)
{
	for (uint64_t all = 0; all < bytes;) {
		assert_true(turn(b));
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

static void weights_count_with_single_messages(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	b.lane[1]->deficit.weight = 10;
	for (int i = 0; i < SOURCES; i++)
		add(&b, 0, i, 128 << 10, UINT32_MAX);
	add(&b, 1, 0, 128 << 10, UINT32_MAX);
	for (int l = 0; l < 2; l++)
		for (int i = 0; i < SOURCES; i++)
			b.from[l][i].single = true;
	run(&b, 300u << 20);
	assert_near(10 * taken(&b, 0), taken(&b, 1), 10 * SLACK);
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

/* The others take the part that a lane with few messages leaves. It is not saved up. */
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
	for (int i = 0; i < 30; i++) {
		const uint64_t before = taken(&b, 0);
		b.from[1][0].left = 1;
		if (b.s[1][0].state != SOURCE_HOT) /* as epoll would tell */
			half_move_source(&b.s[1][0], &b.w.hot, SOURCE_HOT);
		while (b.from[1][0].left > 0)
			turn(&b);
		assert_true(taken(&b, 0) - before <= 2 * ((128 << 10) + DEFICIT_MESSAGE));
	}
	halt(&b);
}

/* A lane that is alone ends its turn when it has taken enough. The next turn begins with the next source. */
static void a_turn_is_short(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	for (int i = 0; i < SOURCES; i++) {
		add(&b, 0, i, SOURCES_TURN_BYTES / 2, UINT32_MAX);
		b.from[0][i].single = true;
	}
	for (int i = 0; i < 3 * SOURCES; i++) {
		assert_true(turn(&b));
		assert_int_equal(taken(&b, 0), (i + 1) * (SOURCES_TURN_BYTES + 2 * DEFICIT_MESSAGE));
	}
	for (int i = 0; i < SOURCES; i++)
		assert_int_equal(b.from[0][i].taken, taken(&b, 0) / SOURCES);
	halt(&b);
}

/* A lane that comes back has no debt, and need not wait for the others' round. */
static void debts_are_forgotten(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	b.lane[0]->deficit.weight = 100;
	add(&b, 0, 0, 8, UINT32_MAX);
	add(&b, 1, 0, 128 << 10, UINT32_MAX);
	run(&b, 1u << 20);
	b.lane[1]->deficit.left = -(1 << 30);
	half_move_source(&b.s[1][0], &b.w.cold, SOURCE_COLD);
	turn(&b);
	half_move_source(&b.s[1][0], &b.w.hot, SOURCE_HOT);
	const uint64_t before = taken(&b, 1);
	turn(&b);
	assert_true(taken(&b, 1) > before);
	halt(&b);
}

/* Lanes without messages do not keep the thread awake for long. */
static void it_comes_to_rest(void **state)
{
	struct bench b;
	int turns = 0;
	(void)state;
	start(&b);
	for (int l = 0; l < LANES; l++)
		add(&b, l, 0, 128 << 10, 100);
	while (turn(&b))
		turns++;
	for (int l = 0; l < LANES; l++)
		assert_int_equal(b.from[l][0].left, 0);
	assert_true(turns < 1000);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_do_not_count),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(weights_count_with_single_messages),
		cmocka_unit_test(nothing_is_saved),
		cmocka_unit_test(small_ones_do_not_wait),
		cmocka_unit_test(a_turn_is_short),
		cmocka_unit_test(debts_are_forgotten),
		cmocka_unit_test(it_comes_to_rest),
	};
	return cmocka_run_group_tests_name("lanes that share a worker", tests, NULL, NULL);
}
