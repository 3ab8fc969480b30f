/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to several ranks in memory that their sender still writes to: zipperd uses what it has checked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zipperd/lane/fanout.h"
#include "zipperd/lane/receivers.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/reader.h"
#include "zipperd/worker/multicast.h"
#include "zipperd/worker/note.h"
#include "test/unit/common/flipper.h"

#define RANKS 4u /* 0 in part 0, 1 and 2 in part 1, 3 in part 2 */
#define TURNS 100000

static const struct place places[RANKS] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}};
static const uint32_t stations_of_1[2] = {1, 2};

struct bench {
	struct budget budget;
	struct worker w;
	struct worker_ports *ports;
	struct lane *lane;
	struct source s;
};

/* A worker without its thread, with a lane from part 0 to part 1, where nobody has a channel yet. */
static void start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->budget.limit = 64 << 20;
	assert_int_equal(pool_init(&b->w.pool, &b->budget, 4096, 65536), 0);
	b->ports = aligned_alloc(alignof(struct worker_ports), sizeof(*b->ports));
	b->lane = lane_create(2, 3);
	assert_true(b->ports && b->lane);
	memset(b->ports, 0, sizeof(*b->ports));
	struct list *lists[] = {&b->w.hot, &b->w.cold, &b->w.stalled, &b->w.touched, &b->w.blocked, &b->w.due,
		&b->w.carrying, &b->w.reading, &b->w.writing, &b->w.telling, &b->w.fanouts, &b->s.transfers,
		&b->s.fanouts};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	b->w.ports = b->ports;
	b->w.wake_fd = b->w.control_fd = -1;
	b->w.lanes = b->lane;
	b->lane->to = 1;
	b->lane->nstations = RANKS;
	b->lane->place = places;
	b->lane->station_of = stations_of_1;
	b->lane->limits = (struct lane_limits){4096, 65536, 1 << 20, 1 << 20};
	b->lane->worker = &b->w;
	b->s.lane = b->lane;
}

static void halt(struct bench *b)
{
	receivers_source_gone(&b->w, &b->s);
	half_clear_lane(&b->w, b->lane);
	pool_fini(&b->w.pool);
	assert_int_equal(b->budget.used, 0);
	lane_destroy(b->lane);
	free(b->ports);
}

static int take_list(struct bench *b, const uint8_t *list, uint32_t n)
{
	const struct zwire_env env = {.kind = ZWIRE_RECEIVERS, .dst = ZWIRE_NOBODY, .len = n * ZWIRE_RECEIVER_BYTES};
	return multicast_take(&b->s, &env, list);
}

static int take_message(struct bench *b, uint32_t len)
{
	static const uint8_t payload[4096];
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .dst = ZWIRE_NOBODY, .offset = len, .len = len};
	return multicast_take(&b->s, &env, payload);
}

static void list_is_checked_as_it_is_kept(void **state)
{
	struct bench b;
	uint8_t *list = flipper_memory(ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES);
	(void)state;
	assert_non_null(list);
	start(&b);
	for (uint32_t i = 0; i < ZWIRE_RECEIVERS_MAX; i++)
		zwire_put_receiver(list + i * ZWIRE_RECEIVER_BYTES, &(struct zwire_receiver){.dst = 1, .seq = i + 1});
	pid_t peer = flipper_start(list + 3, 0, 0xff); /* dst of the first */
	for (int i = 0; i < TURNS; i++) {
		struct zwire_receiver r;
		int rc = take_list(&b, list, ZWIRE_RECEIVERS_MAX);
		assert_true(rc == 0 || rc == -EPROTO);
		assert_non_null(b.s.receivers);
		assert_int_equal(zwire_get_receiver(&r, b.s.receivers->payload), 0);
		if (rc == 0)
			assert_int_equal(r.dst, 1);
	}
	flipper_stop(peer);
	halt(&b);
}

/* The first receiver has its copy, the second cannot have one yet. The message must be the same when it is shown again.
 */
static void message_stays_as_long_as_it_was(uint32_t before, uint32_t after)
{
	struct bench b;
	uint8_t list[2 * ZWIRE_RECEIVER_BYTES];
	start(&b);
	zwire_put_receiver(list, &(struct zwire_receiver){.dst = 1, .seq = 1});
	zwire_put_receiver(list + ZWIRE_RECEIVER_BYTES, &(struct zwire_receiver){.dst = 3, .seq = 1});
	assert_int_equal(take_list(&b, list, 2), 0);
	assert_int_equal(take_message(&b, before), -EAGAIN); /* no way to part 2 yet */
	assert_int_equal(take_message(&b, before), -EAGAIN);
	assert_null(b.s.breach);
	assert_int_equal(take_message(&b, after), -EPROTO);
	assert_non_null(b.s.breach);
	halt(&b);
}

static void some_reads(const struct zlink *z, struct zrma_limits *out)
{
	(void)z;
	*out = (struct zrma_limits){.max_bytes = 1 << 20, .reads = 1, .writes = 1};
}

/* The record of an offer has room for the receivers of its first showing. */
static void list_stays_while_an_offer_waits(void **state)
{
	static const uint8_t key[ZRMA_KEY_BYTES];
	const struct zwire_env offer = {.kind = ZWIRE_RTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.dst = ZWIRE_NOBODY,
		.offset = 100000,
		.len = ZRMA_KEY_BYTES};
	static const struct zrma rma = {.limits = some_reads};
	static const struct ztransport fake = {.name = "fake", .rma = &rma};
	struct zlink readable = {.ops = &fake};
	struct bench b;
	uint8_t list[3 * ZWIRE_RECEIVER_BYTES];
	(void)state;
	start(&b);
	b.s.one_sided = ONE_SIDED_YES;
	b.s.zlink = &readable;
	for (uint32_t i = 0; i < 3; i++)
		zwire_put_receiver(list + i * ZWIRE_RECEIVER_BYTES, &(struct zwire_receiver){.dst = i + 1, .seq = 1});
	assert_int_equal(take_list(&b, list + ZWIRE_RECEIVER_BYTES, 2), 0);
	assert_int_equal(multicast_take(&b.s, &offer, key), -EAGAIN); /* no way to part 2 yet */
	assert_non_null(b.s.fanout);
	assert_int_equal(take_list(&b, list, 3), -EPROTO);
	assert_non_null(b.s.breach);
	fanout_source_gone(&b.s);
	reader_turn(&b.w);
	halt(&b);
}

static void message_may_not_grow(void **state)
{
	(void)state;
	message_stays_as_long_as_it_was(100, 4096);
}

static void message_may_not_shrink(void **state)
{
	(void)state;
	message_stays_as_long_as_it_was(4096, 0);
}

/* Messages for ranks that do not read have taken all memory. A note to one of them must not hold up the notes to all
 * other ranks, of other jobs, too. */
static void notes_go_on_without_memory(void **state)
{
	const struct note nak = {.what = NOTE_SEND, .kind = ZWIRE_NAK, .src = 3, .dst = 1, .seq = 1};
	struct buf *list = NULL, *b;
	struct bench t;
	(void)state;
	start(&t);
	for (int large = 1; large >= 0; large--)
		while ((b = pool_get(&t.w.pool, large ? 4096 : 0))) {
			b->next = list;
			list = b;
		}
	assert_int_equal(note_take(&t.w, &nak), 0);
	assert_true(t.budget.used <= t.budget.limit);
	while ((b = list)) {
		list = b->next;
		pool_put(&t.w.pool, b);
	}
	halt(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_is_checked_as_it_is_kept),
		cmocka_unit_test(list_stays_while_an_offer_waits),
		cmocka_unit_test(message_may_not_grow),
		cmocka_unit_test(message_may_not_shrink),
		cmocka_unit_test(notes_go_on_without_memory),
	};
	return cmocka_run_group_tests_name("lists of receivers", tests, NULL, NULL);
}
