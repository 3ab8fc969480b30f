/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers that find no staging memory, as other transfers hang. The worker runs in steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "zipperd/lane/fanout.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/move.h"
#include "zipperd/onesided/offer.h"
#include "zipperd/onesided/reader.h"
#include "test/unit/zipperd/worker_fixture.h"

#define PIECE 4096u
#define PATIENCE_MS 20000
#define DEAD 0u /* the pair of sender and receiver whose host does not answer */
#define WELL 1u

static const struct place places[4] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const uint32_t stations_of_1[2] = {2, 3};
static const uint8_t key[ZRMA_KEY_BYTES];

struct steps {
	struct budget budget;
	struct worker w, opposite;
	struct worker_ports *ports;
	struct lane *lane;
	struct channel *from[2], *to[2];
	struct fake_link from_link[2], to_link[2];
};

static void begin(struct steps *s, uint32_t pieces)
{
	struct worker *w = &s->w;
	memset(s, 0, sizeof(*s));
	s->budget.limit = 64 << 20;
	assert_int_equal(pool_init(&w->pool, &s->budget, 4096, 65536), 0);
	staging_init(&w->staging, w, &s->budget, (uint64_t)pieces * PIECE, PIECE);
	struct list *lists[] = {&w->touched, &w->blocked, &w->carrying, &w->reading, &w->writing, &w->telling,
		&w->fanouts};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	s->ports = aligned_alloc(alignof(struct worker_ports), sizeof(*s->ports));
	s->lane = lane_create(2, 2);
	assert_true(s->ports && s->lane);
	memset(s->ports, 0, sizeof(*s->ports));
	w->ports = s->opposite.ports = s->ports; /* nobody takes the notes */
	w->opposite = &s->opposite;
	w->wake_fd = w->control_fd = -1;
	w->lanes = s->lane;
	s->lane->to = 1;
	s->lane->nstations = 4;
	s->lane->place = places;
	s->lane->station_of = stations_of_1;
	s->lane->limits = (struct lane_limits){4096, 65536, 1 << 20, 1 << 20};
	s->lane->worker = w;
	for (uint32_t i = 0; i < 2; i++) {
		s->from[i] = fake_channel(&s->from_link[i]);
		s->to[i] = fake_channel(&s->to_link[i]);
		struct source *source = &s->from[i]->source;
		source->lane = s->to[i]->tx.lane = s->lane;
		source->station = i;
		list_init(&source->transfers);
		list_init(&source->fanouts);
		dest_add_tx(w, lane_dest(s->lane, i), &s->to[i]->tx);
	}
}

static void turn(struct steps *s)
{
	s->w.turns++;
	move_turn(&s->w);
	dest_flush_touched(&s->w);
}

/* Nothing is under way any more. */
static void end(struct steps *s)
{
	for (uint32_t i = 0; i < 2; i++)
		dest_drop_tx(&s->w, &s->to[i]->tx);
	half_clear_lane(&s->w, s->lane);
	staging_fini(&s->w.staging);
	pool_fini(&s->w.pool);
	assert_int_equal(s->budget.used, 0);
	lane_destroy(s->lane);
	for (uint32_t i = 0; i < 2; i++) {
		close(s->from_link[i].fd);
		close(s->to_link[i].fd);
		free(s->from[i]);
		free(s->to[i]);
	}
	free(s->ports);
}

static bool offer(struct steps *s, uint32_t pair, uint64_t xfer, uint64_t bytes)
{
	const struct zwire_env rts = {.kind = ZWIRE_RTS, .src = pair, .dst = pair + 2, .xfer = xfer, .offset = bytes};
	lane_dest(s->lane, pair);
	return offer_take(&s->from[pair]->source, &s->lane->dest[pair], &rts, key);
}

static void go(struct steps *s, uint32_t pair, uint64_t xfer, uint64_t bytes)
{
	const struct note n = {.what = NOTE_ACCEPT,
		.src = pair + 2,
		.dst = pair,
		.xfer = xfer,
		.receiver_xfer = xfer,
		.total = bytes};
	assert_int_equal(offer_accept(&s->w, &s->lane->dest[pair], &n), 0);
}

/* Offers a message of one of the pairs, and gives the receiver's answer. */
static void agree(struct steps *s, uint32_t pair, uint64_t xfer, uint64_t bytes)
{
	assert_true(offer(s, pair, xfer, bytes));
	go(s, pair, xfer, bytes);
}

static bool is_told(const struct steps *s, uint32_t pair, uint64_t xfer)
{
	return s->to_link[pair].last.kind == ZWIRE_MOVED && s->to_link[pair].last.xfer == xfer;
}

static void until_told(struct steps *s, uint32_t pair, uint64_t xfer, uint64_t moved)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	while (!is_told(s, pair, xfer)) {
		assert_true(zclock_ms() < end);
		turn(s);
	}
	assert_int_equal(s->to_link[pair].last.offset, moved);
	assert_null(transfer_find(s->lane, pair, xfer));
}

/* All staging memory is in pieces that no link takes. */
static void hang(struct steps *s, uint32_t pieces)
{
	atomic_store(&s->to_link[DEAD].tx.held, true);
	agree(s, DEAD, 1, (uint64_t)pieces * PIECE);
	while (s->w.staging.nfree > 0)
		turn(s);
}

static void wait_turning(struct steps *s, int64_t ms)
{
	for (const int64_t end = zclock_ms() + ms; zclock_ms() < end;)
		turn(s);
}

/* Others do not wait for a host that does not answer. Later one-sided transfers are possible again. */
static void others_get_fragments(void **state)
{
	struct steps s;
	(void)state;
	begin(&s, 2);
	hang(&s, 2);
	agree(&s, WELL, 1, 3 * PIECE);
	agree(&s, WELL, 2, 3 * PIECE);
	until_told(&s, WELL, 2, 0);
	assert_int_equal(atomic_load(&s.to_link[WELL].posts), 2);
	assert_int_equal(atomic_load(&s.from_link[WELL].rx.tried), 0);
	assert_non_null(transfer_find(s.lane, DEAD, 1));

	/* The answer comes at once, and the offer is declined. */
	const struct note withdraw = {.what = NOTE_WITHDRAW, .src = 3, .dst = WELL, .xfer = 3};
	agree(&s, WELL, 3, 3 * PIECE);
	assert_true(is_told(&s, WELL, 3));
	assert_int_equal(s.to_link[WELL].last.offset, 0);
	assert_int_equal(offer_withdraw(&s.w, &s.lane->dest[WELL], &withdraw), 0);

	atomic_store(&s.to_link[DEAD].tx.held, false);
	until_told(&s, DEAD, 1, 2 * PIECE);
	agree(&s, WELL, 4, 3 * PIECE);
	until_told(&s, WELL, 4, 3 * PIECE);
	end(&s);
}

/* Either link turns out to have no way for one-sided operations. */
static void no_way_is_no_end(void **state)
{
	struct steps s;
	(void)state;
	begin(&s, 2);
	agree(&s, WELL, 1, 3 * PIECE);
	until_told(&s, WELL, 1, 3 * PIECE);
	const int tried = atomic_load(&s.from_link[WELL].rx.tried);
	for (uint32_t i = 0; i < 2; i++) {
		struct fake_link *l = i ? &s.to_link[WELL] : &s.from_link[WELL];
		const struct note withdraw = {.what = NOTE_WITHDRAW, .src = 3, .dst = WELL, .xfer = 2 + i};
		assert_true(offer(&s, WELL, 2 + i, 3 * PIECE));
		atomic_store(&l->useless, true);
		go(&s, WELL, 2 + i, 3 * PIECE);
		assert_true(is_told(&s, WELL, 2 + i));
		assert_int_equal(s.to_link[WELL].last.offset, 0);
		assert_int_equal(offer_withdraw(&s.w, &s.lane->dest[WELL], &withdraw), 0);
		if (l == &s.from_link[WELL])
			assert_false(offer(&s, WELL, 9, 3 * PIECE));
		atomic_store(&l->useless, false);
	}
	assert_int_equal(atomic_load(&s.from_link[WELL].rx.tried), tried);
	end(&s);
}

/* Bytes that were written already do not count. */
static void half_of_it_begins_again(void **state)
{
	struct steps s;
	(void)state;
	begin(&s, 2);
	agree(&s, WELL, 1, 3 * PIECE);
	while (atomic_load(&s.from_link[WELL].rx.tried) == 0)
		turn(&s);
	atomic_store(&s.from_link[WELL].rx.full, true);
	while (transfer_find(s.lane, WELL, 1)->written == 0)
		turn(&s);
	hang(&s, 2);
	atomic_store(&s.from_link[WELL].rx.full, false);
	until_told(&s, WELL, 1, 0);
	atomic_store(&s.to_link[DEAD].tx.held, false);
	until_told(&s, DEAD, 1, 2 * PIECE);
	end(&s);
}

/* A message to several receivers. */
static void fanned_out_goes_on_as_fragments(void **state)
{
	struct steps s;
	const struct zwire_env rts = {.kind = ZWIRE_RTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.src = WELL,
		.dst = WELL + 2,
		.seq = 1,
		.xfer = 9,
		.offset = 3 * PIECE};
	const struct note go =
		{.what = NOTE_ACCEPT, .src = WELL + 2, .dst = WELL, .xfer = 9, .receiver_xfer = 9, .total = 3 * PIECE};
	(void)state;
	begin(&s, 2);
	hang(&s, 2);
	struct source *source = &s.from[WELL]->source;
	struct fanout *f = fanout_create(source, &rts, key, 1);
	assert_non_null(f);
	assert_int_equal(reader_offer(f, 0, &rts), 0);
	f->begun = true;
	assert_int_equal(offer_accept(&s.w, &s.lane->dest[WELL], &go), 0);
	until_told(&s, WELL, 9, 0);
	turn(&s);
	assert_true(list_empty(&s.w.fanouts));
	assert_null(fanout_create(source, &rts, key, 1));
	atomic_store(&s.to_link[DEAD].tx.held, false);
	until_told(&s, DEAD, 1, 2 * PIECE);
	f = fanout_create(source, &rts, key, 1);
	assert_non_null(f);
	assert_int_equal(reader_offer(f, 0, &rts), 0);
	f->begun = true;
	assert_int_equal(offer_accept(&s.w, &s.lane->dest[WELL], &go), 0);
	s.to_link[WELL].last.kind = 0;
	until_told(&s, WELL, 9, 3 * PIECE);
	turn(&s);
	assert_true(list_empty(&s.w.fanouts));
	end(&s);
}

/* A receiver that has a piece goes on with it, however long that takes. */
static void who_is_slow_goes_on(void **state)
{
	struct steps s;
	(void)state;
	begin(&s, 3);
	atomic_store(&s.to_link[WELL].tx.held, true);
	agree(&s, WELL, 1, 5 * PIECE);
	while (s.w.staging.nfree == 3)
		turn(&s);
	hang(&s, 2);
	agree(&s, WELL, 2, PIECE);
	wait_turning(&s, 4 * STAGING_PATIENCE_MS);
	assert_int_equal(atomic_load(&s.to_link[WELL].posts), 0);
	atomic_store(&s.to_link[WELL].tx.held, false);
	until_told(&s, WELL, 1, 5 * PIECE);
	until_told(&s, WELL, 2, PIECE);
	atomic_store(&s.to_link[DEAD].tx.held, false);
	until_told(&s, DEAD, 1, 2 * PIECE);
	end(&s);
}

/* A device does not end a read or write: the memory of that operation is not used again. */
static void what_is_held_is_not_used_again(bool read)
{
	struct steps s;
	begin(&s, 3);
	struct fake_half *h = read ? &s.from_link[DEAD].rx : &s.to_link[DEAD].tx;
	atomic_store(&h->held, true);
	agree(&s, DEAD, 1, PIECE);
	while (!h->cookie)
		turn(&s);
	const void *held = h->local;
	transfer_source_gone(&s.w, &s.from[DEAD]->source);
	atomic_store(&h->stubborn, true);
	atomic_store(&h->held, false);
	while (transfer_find(s.lane, DEAD, 1))
		turn(&s);
	assert_int_equal(s.w.staging.npieces, 2);
	assert_int_equal(s.w.staging.nfree, 2);
	for (uint64_t i = 1; i < 10; i++) {
		agree(&s, WELL, i, PIECE);
		until_told(&s, WELL, i, PIECE);
		assert_ptr_not_equal(s.from_link[WELL].rx.local, held);
	}
	void *block = s.w.staging.block.memory; /* no other transfer may have it now */
	end(&s);
	free(block);
}

static void what_is_written_into_is_not_used_again(void **state)
{
	(void)state;
	what_is_held_is_not_used_again(true);
}

static void what_is_read_from_is_not_used_again(void **state)
{
	(void)state;
	what_is_held_is_not_used_again(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_get_fragments),
		cmocka_unit_test(no_way_is_no_end),
		cmocka_unit_test(half_of_it_begins_again),
		cmocka_unit_test(fanned_out_goes_on_as_fragments),
		cmocka_unit_test(who_is_slow_goes_on),
		cmocka_unit_test(what_is_written_into_is_not_used_again),
		cmocka_unit_test(what_is_read_from_is_not_used_again),
	};
	return cmocka_run_group_tests_name("staging memory that others have", tests, NULL, NULL);
}
