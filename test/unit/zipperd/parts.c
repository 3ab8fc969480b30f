/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of zipperd alone: rings between two threads, the pool's classes and budget, the table of refusals. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zipperd/lane/lane.h"
#include "zipperd/lane/refusal.h"
#include "zipperd/conn/limit.h"
#include "zipperd/job/job_world.h"
#include "zipperd/memory/pool.h"
#include "zipperd/memory/ring.h"
#include "zipperd/memory/staging.h"
#include "test/unit/zipperd/unregistered.h"
#include "zipperd/worker/forward.h"
#include "zipperd/worker/worker_pair.h"

RING(number_ring, uint64_t, 8);

static void ring_is_first_in_first_out(void **state)
{
	static struct number_ring r;
	(void)state;
	assert_null(number_ring_peek(&r));
	for (uint64_t i = 0; i < 8; i++)
		assert_true(number_ring_push(&r, &i));
	assert_false(number_ring_push(&r, &(uint64_t){99}));
	for (uint64_t i = 0; i < 8; i++) {
		assert_int_equal(*number_ring_peek(&r), i);
		number_ring_drop(&r);
	}
	assert_null(number_ring_peek(&r));
}

#define NUMBERS 200000
static void *produce(void *arg)
{
	for (uint64_t i = 0; i < NUMBERS; i++)
		while (!number_ring_push(arg, &i))
			sched_yield();
	return NULL;
}

static void ring_between_threads(void **state)
{
	static struct number_ring r;
	pthread_t thread;
	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, produce, &r), 0);
	for (uint64_t i = 0; i < NUMBERS; i++) {
		uint64_t *n;
		while (!(n = number_ring_peek(&r)))
			sched_yield();
		assert_int_equal(*n, i);
		number_ring_drop(&r);
	}
	pthread_join(thread, NULL);
}

static void pool_has_room_for_every_size(void **state)
{
	struct budget budget = {.limit = 64 << 20};
	struct pool pool;
	const uint32_t sizes[] = {0, 1, 128, 129, 4096, 4097, 16384, 16385, 131072};
	struct buf *b[9];
	(void)state;
	assert_int_equal(pool_init(&pool, &budget, 16384, 131072), 0);
	for (int i = 0; i < 9; i++) {
		b[i] = pool_get(&pool, sizes[i]);
		assert_non_null(b[i]);
		memset(b[i]->payload, i, sizes[i]);
		memset(b[i]->env, i, sizeof(b[i]->env));
	}
	assert_null(pool_get(&pool, 131073));
	for (int i = 0; i < 9; i++) {
		for (uint32_t k = 0; k < sizes[i]; k++)
			assert_int_equal(b[i]->payload[k], i);
		pool_put(&pool, b[i]);
	}
	pool_fini(&pool);
	assert_int_equal(budget.used, 0);
}

static void pool_keeps_to_its_budget(void **state)
{
	struct budget budget = {.limit = 4 << 20};
	struct pool pool, other;
	struct buf *list = NULL, *b;
	int n = 0;
	(void)state;
	assert_int_equal(pool_init(&pool, &budget, 16384, 131072), 0);
	assert_int_equal(pool_init(&other, &budget, 16384, 131072), 0);
	while ((b = pool_get(&pool, 131072))) {
		b->next = list;
		list = b;
		n++;
	}
	assert_true(n > 20 && n < 32);
	assert_true(budget.used <= budget.limit);
	assert_null(pool_get(&other, 131072));	  /* shared */
	assert_non_null(b = pool_get(&other, 0)); /* but each pool has small ones */
	pool_put(&other, b);
	while ((b = list)) {
		list = b->next;
		pool_put(&pool, b);
	}
	assert_true(budget.used < 1 << 20); /* given back, except a spare slab */
	assert_non_null(b = pool_get(&other, 131072));
	pool_put(&other, b);
	pool_fini(&pool);
	pool_fini(&other);
	assert_int_equal(budget.used, 0);
}

/* Idle pools never keep all the memory: they would not give it back. */
static void idle_pools_leave_memory(void **state)
{
	const uint32_t sizes[] = {4096, 16384, 65536, 131072};
	struct budget budget = {.limit = 3 << 20};
	struct pool idle[4], other;
	struct buf *b;
	(void)state;
	assert_int_equal(pool_init(&other, &budget, 16384, 131072), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pool_init(&idle[i], &budget, 16384, 131072), 0);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			assert_non_null(b = pool_get(&idle[i], sizes[k]));
			pool_put(&idle[i], b);
		}
	for (int k = 0; k < 4; k++) {
		assert_non_null(b = pool_get(&other, sizes[k]));
		pool_put(&other, b);
	}
	for (int i = 0; i < 4; i++)
		pool_fini(&idle[i]);
	pool_fini(&other);
	assert_int_equal(budget.used, 0);
}

static void fake_limits(const struct zlink *z, struct zrma_limits *out)
{
	(void)z;
	*out = (struct zrma_limits){.max_bytes = 1 << 20, .reads = 1, .writes = 1};
}

/* The same with any number of directions that keep memory for one-sided transfers. */
static void staging_leaves_memory(void **state)
{
	static const struct zrma rma = {.domain = unregistered_domain, .reg = unregistered_reg, .limits = fake_limits};
	static const struct ztransport fake = {.name = "fake", .rma = &rma, .fragment_bytes = 131072};
	const uint32_t sizes[] = {4096, 16384, 65536, 131072};
	struct zlink link = {.ops = &fake};
	struct budget budget = {.limit = 8 << 20};
	struct staging staging[6];
	struct pool pool[6];
	struct zregion *region;
	struct zerr err;
	struct buf *b;
	int admitted = 0;
	(void)state;
	for (int i = 0; i < 6; i++)
		assert_int_equal(pool_init(&pool[i], &budget, 16384, 131072), 0);
	for (int i = 0; i < 6; i++) {
		staging_init(&staging[i], NULL, &budget, 4 << 20, 0);
		admitted += staging_join(&staging[i], &link, ZLINK_RX, &region, &err) == 0;
	}
	assert_true(admitted > 0);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 4; k++) {
			assert_non_null(b = pool_get(&pool[i], sizes[k]));
			pool_put(&pool[i], b);
		}
	for (int i = 0; i < 6; i++) {
		staging_fini(&staging[i]);
		pool_fini(&pool[i]);
	}
	assert_int_equal(budget.used, 0);
}

/* The eager class may be smaller than a page, or as large as the fragments. Then a class is left out. */
struct device_link { /* a link of a device that registers memory, or does not */
	struct zlink base;
	const void *domain;
	int refusal, asked;
};

static const void *device_domain(const struct zlink *z, enum zlink_half half)
{
	(void)half;
	return ((const struct device_link *)z)->domain;
}

static int device_reg(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zregion **out,
	struct zerr *err)
{
	struct device_link *l = (struct device_link *)z;
	(void)half;
	(void)base;
	(void)len;
	l->asked++;
	*out = (struct zregion *)l;
	return l->refusal ? zerr_set(err, l->refusal, "refused") : 0;
}

static void device_unreg(struct zregion *r)
{
	(void)r;
}

static bool device_is_lost(const struct zregion *r)
{
	(void)r;
	return false;
}

/* Devices that registered nothing leave nothing behind for the next device, even one at the same address. */
static void devices_that_registered_nothing_are_forgotten(void **state)
{
	static const struct zrma rma = {.domain = device_domain,
		.reg = device_reg,
		.unreg = device_unreg,
		.is_lost = device_is_lost,
		.limits = fake_limits};
	static const struct ztransport fake = {.name = "fake", .rma = &rma, .fragment_bytes = 131072};
	const char domains[REGISTERED_DOMAINS + 1] = "";
	struct device_link link = {.base = {.ops = &fake}, .refusal = -ENOMEM};
	struct budget budget = {.limit = 8 << 20};
	struct staging staging;
	struct zregion *region = NULL;
	struct zerr err;
	(void)state;
	staging_init(&staging, NULL, &budget, 1 << 20, 0);
	for (int i = 0; i <= REGISTERED_DOMAINS; i++) {
		link.domain = &domains[i];
		link.asked = 0;
		/* The device is asked, and the reason told, once for all present halves. */
		assert_int_equal(staging_join(&staging, &link.base, ZLINK_RX, &region, &err), -ENOMEM);
		assert_string_equal(err.text, "refused");
		assert_int_equal(staging_join(&staging, &link.base, ZLINK_TX, &region, &err), -ENOMEM);
		assert_string_equal(err.text, "");
		assert_int_equal(link.asked, 1);
		staging_leave(&staging, &link.base, ZLINK_RX, NULL);
		staging_leave(&staging, &link.base, ZLINK_TX, NULL);
	}
	link.refusal = 0;
	assert_int_equal(staging_join(&staging, &link.base, ZLINK_RX, &region, &err), 0);
	assert_ptr_equal(region, &link);
	link.domain = &domains[0];
	assert_int_equal(staging_join(&staging, &link.base, ZLINK_RX, &region, &err), 0);
	/* A registration stays for the next link. */
	staging_leave(&staging, &link.base, ZLINK_RX, region);
	link.asked = 0;
	assert_int_equal(staging_join(&staging, &link.base, ZLINK_RX, &region, &err), 0);
	assert_int_equal(link.asked, 0);
	staging_leave(&staging, &link.base, ZLINK_RX, region);
	staging_fini(&staging);
}

static void pool_with_odd_classes(void **state)
{
	const uint32_t eager[] = {0, 100, 4096, 1 << 20};
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct budget budget = {.limit = 64 << 20};
		struct pool pool;
		assert_int_equal(pool_init(&pool, &budget, eager[i], 1 << 20), 0);
		for (uint32_t len = 0; len <= 1 << 20; len = len * 2 + 1) {
			struct buf *b = pool_get(&pool, len);
			assert_non_null(b);
			memset(b->payload, 1, len);
			pool_put(&pool, b);
		}
		pool_fini(&pool);
	}
}

#define SOURCES 3000
static void refusals_are_found_again(void **state)
{
	struct budget budget = {.limit = 64 << 20};
	struct pool pool;
	struct lane *l = lane_create(5, 2);
	(void)state;
	assert_non_null(l);
	assert_int_equal(pool_init(&pool, &budget, 16384, 131072), 0);
	for (uint32_t d = 0; d < 5; d++)
		lane_dest(l, d);
	for (uint32_t s = 0; s < SOURCES; s++) {
		struct buf *b = pool_get(&pool, sizeof(struct refusal));
		assert_non_null(b);
		refusal_add(b, s, &l->dest[s % 5], s + 7);
	}
	for (uint32_t s = 0; s < SOURCES; s++) {
		assert_int_equal(refusal_find(l, s, &l->dest[s % 5])->seq, s + 7);
		assert_null(refusal_find(l, s, &l->dest[(s + 1) % 5]));
	}
	assert_int_equal(l->dest[2].nrefused, SOURCES / 5);
	for (uint32_t s = 0; s < SOURCES; s += 2)
		refusal_del(&pool, refusal_find(l, s, &l->dest[s % 5]));
	for (uint32_t s = 0; s < SOURCES; s++) {
		struct refusal *r = refusal_find(l, s, &l->dest[s % 5]);
		assert_true((r != NULL) == (s % 2 == 1));
		if (r)
			refusal_del(&pool, r);
	}
	assert_int_equal(l->dest[2].nrefused, 0);
	lane_destroy(l);
	pool_fini(&pool);
	assert_int_equal(budget.used, 0);
}

/* Two endpoints each of rank 0 in part 0, and ranks 1 and 2 in part 1. */
static void destinations_are_stations(void **state)
{
	const struct place places[] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {1, 2}, {1, 3}};
	const uint32_t stations_of_1[] = {1, 2, 4, 5};
	const struct zwire_env good = {.kind = ZWIRE_EAGER, .src = 3, .dst = 5, .seq = 1, .len = 300};
	struct zwire_env env = good;
	uint8_t payload[300] = {0}, raw[ZWIRE_ENV_BYTES];
	struct budget budget = {.limit = 64 << 20};
	struct worker w = {.pool = {.budget = NULL}};
	struct lane *l = lane_create(4, 2);
	struct source s = {.lane = l, .station = 3};
	(void)state;
	assert_non_null(l);
	assert_int_equal(pool_init(&w.pool, &budget, 16384, 131072), 0);
	list_init(&w.due);
	w.lanes = l;
	l->worker = &w;
	l->to = 1;
	l->nstations = 6;
	l->place = places;
	l->station_of = stations_of_1;
	l->limits = (struct lane_limits){16384, 131072, 500, 1 << 20};
	for (uint32_t i = 0; i < 4; i++) {
		lane_dest(l, i);
		l->dest[i].asked_open = true;
	}
	zwire_encode(raw, &env);
	assert_int_equal(forward_take(&s, &env, raw, payload), 0);
	env.seq = 2;
	assert_int_equal(forward_take(&s, &env, raw, payload), 0); /* refused */
	env = good;
	env.dst = 4;
	assert_int_equal(forward_take(&s, &env, raw, payload), 0);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(l->dest[i].queued_bytes, i < 2 ? 0 : ZWIRE_ENV_BYTES + 300);
		assert_int_equal(l->dest[i].nrefused, i == 3);
	}
	assert_non_null(refusal_find(l, 3, &l->dest[3]));
	assert_null(refusal_find(l, 0, &l->dest[3]));
	/* In the name of its rank's other endpoint; to a station that does not exist; to ranks of its own part. */
	static const uint32_t bad[][2] = {{0, 5}, {3, 6}, {3, 0}, {3, 3}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		env = good;
		env.src = bad[i][0];
		env.dst = bad[i][1];
		s.breach = NULL;
		assert_int_equal(forward_take(&s, &env, raw, payload), -EPROTO);
		assert_non_null(s.breach);
	}
	dest_bye(&w, lane_dest(l, 3));
	assert_int_equal(refusal_find(l, 3, &l->dest[3])->state, REFUSAL_BYE_DUE);
	assert_false(l->dest[1].gone || l->dest[2].gone);
	half_clear_lane(&w, l);
	lane_destroy(l);
	pool_fini(&w.pool);
	assert_int_equal(budget.used, 0);
}

/* Sources of messages that wait for a rank are told that the rank has left, even if no memory is left for refusals. */
static void who_left_is_told_without_memory(void **state)
{
	const struct place places[] = {{0, 0}, {0, 1}, {1, 0}};
	uint8_t payload[300] = {0}, raw[ZWIRE_ENV_BYTES];
	struct budget budget = {.limit = 64 << 20};
	struct worker w = {.pool = {.budget = NULL}};
	struct lane *l = lane_create(1, 2);
	struct buf *all = NULL, *b;
	(void)state;
	assert_non_null(l);
	assert_int_equal(pool_init(&w.pool, &budget, 16384, 131072), 0);
	list_init(&w.due);
	w.lanes = l;
	*l = (struct lane){.worker = &w,
		.to = 1,
		.nstations = 3,
		.ndests = 1,
		.place = places,
		.dest = l->dest,
		.bucket = l->bucket,
		.transfers = l->transfers,
		.relay = l->relay,
		.limits = {16384, 131072, 1 << 20, 1 << 20}};
	lane_dest(l, 0);
	l->dest[0].asked_open = true;
	for (uint32_t src = 0; src < 2; src++)
		for (uint64_t seq = 1; seq < 4; seq++) {
			struct source s = {.lane = l, .station = src};
			const struct zwire_env env = {.kind = ZWIRE_EAGER,
				.src = src,
				.dst = 2,
				.seq = seq,
				.len = sizeof(payload)};
			zwire_encode(raw, &env);
			assert_int_equal(forward_take(&s, &env, raw, payload), 0);
		}
	budget.limit = 0;
	while ((b = pool_get(&w.pool, 0))) {
		b->next = all;
		all = b;
	}
	dest_bye(&w, lane_dest(l, 0));
	assert_null(l->dest[0].head);
	for (uint32_t src = 0; src < 2; src++) {
		const struct refusal *r = refusal_find(l, src, &l->dest[0]);
		assert_non_null(r);
		assert_int_equal(r->state, REFUSAL_BYE_DUE);
		assert_int_equal(r->seq, 1);
	}
	while ((b = all)) {
		all = b->next;
		pool_put(&w.pool, b);
	}
	half_clear_lane(&w, l);
	lane_destroy(l);
	pool_fini(&w.pool);
	assert_int_equal(budget.used, 0);
}

static void log_lines_are_limited(void **state)
{
	struct limit l = {.lines = 0};
	uint32_t dropped;
	int written = 0;
	(void)state;
	for (int i = 0; i < 1000; i++)
		written += limit_pass(&l, 5, &dropped);
	assert_int_equal(written, LIMIT_LINES);
	assert_true(limit_pass(&l, 5 + LIMIT_PERIOD_MS, &dropped));
	assert_int_equal(dropped, 1000 - LIMIT_LINES);
}

static void windows_do_not_shrink_with_the_ranks(void **state)
{
	static const struct {
		uint32_t stations, window;
	} row[] = {{2, 2 << 20}, {64, 2 << 20}, {128, 1 << 20}, {256, 512 << 10}, {257, 512 << 10}, {1024, 512 << 10},
		{131072, 512 << 10}, {UINT32_MAX - 1, 512 << 10}};
	struct settings c;
	struct zerr err;
	(void)state;
	assert_int_equal(settings_init(&c, &err), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(job_world_window(&c, c.memory, row[i].stations), row[i].window);
	assert_int_equal(job_world_window(&c, -1, 2), 512 << 10);
	c.frag_bytes = 64 << 10;
	assert_int_equal(job_world_window(&c, c.memory, 131072), 128 << 10);
	c.frag_bytes = 0;
	c.rdv_window = 256 << 10; /* asked for */
	assert_int_equal(job_world_window(&c, c.memory, 2), 256 << 10);
	settings_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_is_first_in_first_out),
		cmocka_unit_test(ring_between_threads),
		cmocka_unit_test(pool_has_room_for_every_size),
		cmocka_unit_test(pool_keeps_to_its_budget),
		cmocka_unit_test(idle_pools_leave_memory),
		cmocka_unit_test(staging_leaves_memory),
		cmocka_unit_test(devices_that_registered_nothing_are_forgotten),
		cmocka_unit_test(pool_with_odd_classes),
		cmocka_unit_test(refusals_are_found_again),
		cmocka_unit_test(destinations_are_stations),
		cmocka_unit_test(who_left_is_told_without_memory),
		cmocka_unit_test(log_lines_are_limited),
		cmocka_unit_test(windows_do_not_shrink_with_the_ranks),
	};
	return cmocka_run_group_tests_name("zipperd_parts", tests, NULL, NULL);
}
