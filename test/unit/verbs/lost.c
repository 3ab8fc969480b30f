/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations that are under way when nothing is heard any more: of their device, queue or peer. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"

#define SEVERAL 3
#define SOON_MS 20000 /* far more than it takes, also on a busy machine */

/* The reads and writes of end b stay under way, or end. */
static void keep(bool under_way)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	fake_lock(fake_fabric());
	fake_keep(fake_fabric(), sock, under_way ? -1 : 0);
	fake_unlock(fake_fabric());
	close(sock);
}

static void lose_device(void)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	fake_lock(fake_fabric());
	fake_device_gone(fake_fabric(), sock, 0, 0);
	fake_unlock(fake_fabric());
	close(sock);
}

/* Of b's half, on memory that a has opened. The last write is in the list that is not posted yet. */
static void begin(struct ends *e, enum zlink_half half, struct fixture *f)
{
	open_ends(e, f);
	assert_int_equal(e->rma->expose(e->pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, e->memory, SIZE,
				 &e->exposure),
		0);
	keep(true);
	for (size_t i = 0; i < SEVERAL; i++) {
		const struct zrma_op op = {.key = e->exposure.key,
			.local = e->staging + i * 100,
			.len = 100,
			.region = e->region,
			.cookie = e->staging + i,
			.more = i == SEVERAL - 1};
		assert_int_equal(half == ZLINK_RX ? e->rma->read(e->pair.b, &op) : e->rma->write(e->pair.b, &op), 0);
	}
	struct zrma_done done;
	assert_int_equal(e->rma->reap(e->pair.b, half, &done, 1), 0);
}

/* Each operation is reported once, with its reason; then the half's end is. */
static void all_are_reported(struct ends *e, enum zlink_half half, int why)
{
	const int64_t end = zclock_ms() + SOON_MS;
	unsigned seen = 0;
	int n = 0;
	while (n >= 0) {
		struct zrma_done done[2];
		n = e->rma->reap(e->pair.b, half, done, 2);
		for (int i = 0; i < n; i++) {
			seen ^= 1u << ((uint8_t *)done[i].cookie - e->staging);
			assert_int_equal(done[i].rc, why);
			assert_false(done[i].held);
		}
		if (seen != (1u << SEVERAL) - 1)
			assert_true(n >= 0);
		assert_true(zclock_ms() < end);
	}
	assert_int_equal(n, why);
	assert_int_equal(seen, (1u << SEVERAL) - 1);
	const struct zrma_op op = {.key = e->exposure.key,
		.local = e->staging,
		.len = 1,
		.region = e->region,
		.cookie = e};
	assert_true((half == ZLINK_RX ? e->rma->read(e->pair.b, &op) : e->rma->write(e->pair.b, &op)) < 0);
}

static void end(struct ends *e)
{
	e->rma->conceal(e->pair.a, &e->exposure);
	close_ends(e);
	keep(false);
}

/* Nobody else looks for the device's event, and no completion tells of the operations. */
void a_device_is_lost_with_operations_under_way(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	for (int i = 0; i < 4; i++) {
		const enum zlink_half half = i & 1 ? ZLINK_TX : ZLINK_RX;
		struct ends e;
		option("ZIPPER_ENDPOINTS", categories[i / 2]);
		if (i & 2) { /* such memory is its endpoint's alone */
			f->ops->endpoint_close(f->endpoint);
			f->endpoint = NULL;
		}
		begin(&e, half, f);
		lose_device();
		all_are_reported(&e, half, -ENODEV);
		end(&e);
		struct pair again = fixture_pair(f);
		pair_close(&again);
	}
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
	option("ZIPPER_ENDPOINTS", NULL);
}

/* The queue pair ends them, but nobody can be told. */
void a_completion_queue_tells_nothing_any_more(void **state)
{
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		struct ends e;
		begin(&e, (enum zlink_half)half, *state);
		fake_fabric()->fault[FAKE_POLL] = (struct fake_fault){.value = 1, .times = UINT32_MAX};
		all_are_reported(&e, (enum zlink_half)half, -EIO);
		fault(FAKE_POLL, 0, 0);
		end(&e);
	}
}

/* The device goes on with them, as far as anybody knows: the memory must not be used again. */
void a_device_does_not_end_operations(void **state)
{
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		const int64_t end_ms = zclock_ms() + SOON_MS;
		struct zrma_done done[SEVERAL];
		struct ends e;
		int n = 0;
		begin(&e, (enum zlink_half)half, *state);
		fake_fabric()->fault[FAKE_END] = (struct fake_fault){.value = EIO, .times = UINT32_MAX};
		e.rma->give_up(e.pair.b, (enum zlink_half)half);
		while ((n = e.rma->reap(e.pair.b, (enum zlink_half)half, done, SEVERAL)) == 0)
			assert_true(zclock_ms() < end_ms);
		assert_int_equal(n, SEVERAL);
		for (int i = 0; i < n; i++) {
			assert_int_equal(done[i].rc, -EIO);
			assert_true(done[i].held);
		}
		fault(FAKE_END, 0, 0);
		end(&e);
	}
}

/* A caller that wants nothing more of a peer does not wait for its answer. */
void what_is_given_up_ends(void **state)
{
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		struct ends e;
		struct zrma_done done;
		begin(&e, (enum zlink_half)half, *state);
		e.rma->give_up(e.pair.b, (enum zlink_half)half);
		assert_int_equal(e.rma->reap(e.pair.b, (enum zlink_half)half, &done, 0), 0);
		assert_int_equal(e.rma->reap(e.pair.b, (enum zlink_half)half, &done, 1), 1); /* at once */
		assert_int_equal(done.rc, -ECONNRESET);
		end(&e);
	}
}
