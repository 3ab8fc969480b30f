/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers to more receivers than there are pieces for at a time: the receivers take turns. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/move.h"
#include "zipperd/onesided/offer.h"
#include "test/unit/zipperd/unregistered.h"

#define RECEIVERS 5u
#define PIECE 4096u
#define PIECES 4u /* a receiver's share is two */
#define ENDLESS (UINT64_C(1) << 40)
#define UNDER_WAY 16

/* --- links whose operations are complete at the next reap --- */

struct quick_half {
	void *cookie[UNDER_WAY];
	unsigned n;
};

struct quick_link {
	struct zlink base;
	struct quick_half rx, tx;
};

static void quick_limits(const struct zlink *z, struct zrma_limits *out)
{
	(void)z;
	*out = (struct zrma_limits){.max_bytes = PIECE, .reads = UNDER_WAY, .writes = UNDER_WAY};
}

static int start_op(struct quick_half *h, const struct zrma_op *op)
{
	if (h->n == UNDER_WAY)
		return -EAGAIN;
	h->cookie[h->n++] = op->cookie;
	return 0;
}

static int quick_read(struct zlink *z, const struct zrma_op *op)
{
	return start_op(&((struct quick_link *)z)->rx, op);
}

static int quick_write(struct zlink *z, const struct zrma_op *op)
{
	return start_op(&((struct quick_link *)z)->tx, op);
}

static int quick_reap(struct zlink *z, enum zlink_half half, struct zrma_done *out, unsigned cap)
{
	struct quick_link *l = (struct quick_link *)z;
	struct quick_half *h = half == ZLINK_RX ? &l->rx : &l->tx;
	if (h->n == 0 || cap == 0)
		return 0;
	*out = (struct zrma_done){.cookie = h->cookie[--h->n]};
	return 1;
}

static int quick_post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	(void)z;
	(void)env;
	(void)payload;
	(void)len;
	return 0;
}

static int quick_flush(struct zlink *z)
{
	(void)z;
	return 0;
}

static const struct zrma quick_rma = {.domain = unregistered_domain,
	.reg = unregistered_reg,
	.limits = quick_limits,
	.read = quick_read,
	.write = quick_write,
	.reap = quick_reap};
static const struct ztransport quick = {.name = "quick",
	.rma = &quick_rma,
	.post = quick_post,
	.flush = quick_flush,
	.fragment_bytes = PIECE};

/* --- a worker without its thread --- */

static const struct place places[1 + RECEIVERS] = {{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}};
static const uint32_t stations_of_1[RECEIVERS] = {1, 2, 3, 4, 5};

struct bench {
	struct budget budget;
	struct worker w;
	struct lane *lane;
	struct source s;
	struct tx tx[RECEIVERS];
	struct quick_link from, to[RECEIVERS];
};

static void start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->budget.limit = 64 << 20;
	assert_int_equal(pool_init(&b->w.pool, &b->budget, 4096, 65536), 0);
	staging_init(&b->w.staging, &b->w, &b->budget, PIECES * PIECE, PIECE);
	struct list *lists[] = {&b->w.touched, &b->w.blocked, &b->w.carrying, &b->w.reading, &b->w.writing,
		&b->w.telling, &b->w.fanouts, &b->s.transfers, &b->s.fanouts};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	b->lane = lane_create(RECEIVERS, 2);
	assert_non_null(b->lane);
	b->w.lanes = b->lane;
	b->lane->to = 1;
	b->lane->nstations = 1 + RECEIVERS;
	b->lane->place = places;
	b->lane->station_of = stations_of_1;
	b->lane->limits = (struct lane_limits){4096, 65536, 2 * PIECE, 1 << 20};
	b->lane->worker = &b->w;
	b->from.base.ops = &quick;
	b->s.lane = b->lane;
	b->s.zlink = &b->from.base;
	for (uint32_t i = 0; i < RECEIVERS; i++) {
		b->to[i].base.ops = &quick;
		b->tx[i].zlink = &b->to[i].base;
		b->tx[i].lane = b->lane;
		dest_add_tx(&b->w, lane_dest(b->lane, i), &b->tx[i]);
	}
}

static void halt(struct bench *b)
{
	for (uint32_t i = 0; i < RECEIVERS; i++)
		dest_drop_tx(&b->w, &b->tx[i]);
	transfer_source_gone(&b->w, &b->s);
	half_clear_lane(&b->w, b->lane);
	staging_fini(&b->w.staging);
	pool_fini(&b->w.pool);
	assert_int_equal(b->budget.used, 0);
	lane_destroy(b->lane);
}

static void run(struct bench *b, uint32_t receiver)
{
	static const uint8_t key[ZRMA_KEY_BYTES];
	struct dest *d = &b->lane->dest[receiver];
	const struct zwire_env rts = {.kind = ZWIRE_RTS, .dst = receiver + 1, .xfer = receiver, .offset = ENDLESS};
	const struct note go = {.what = NOTE_ACCEPT, .src = receiver + 1, .xfer = receiver, .total = ENDLESS};
	assert_true(offer_take(&b->s, d, &rts, key));
	assert_int_equal(offer_accept(&b->w, d, &go), 0);
}

/* A receiver of large messages does not keep all staging memory from the receivers behind it. */
static void nobody_is_left_out(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	for (uint32_t i = 0; i < RECEIVERS; i++)
		run(&b, i);
	for (int i = 0; i < 50; i++)
		move_turn(&b.w);
	uint64_t least = UINT64_MAX, most = 0;
	for (uint32_t i = 0; i < RECEIVERS; i++) {
		const uint64_t written = transfer_find(b.lane, 0, i)->written;
		least = written < least ? written : least;
		most = written > most ? written : most;
	}
	assert_true(least > 0);
	assert_true(most - least <= PIECES * PIECE);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_left_out),
	};
	return cmocka_run_group_tests_name("turns of one-sided transfers", tests, NULL, NULL);
}
