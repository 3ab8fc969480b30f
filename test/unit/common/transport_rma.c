/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations, for the transports that have them: the connecting end is the owner. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "test/unit/common/link_fixture.h"

#define AROUND 4096
#define SIZE ((size_t)300000) /* a multiple of nothing */
#define OLD 0xa5

struct ends {
	struct pair pair;
	const struct zrma *rma;
	struct zrma_limits limits;
	uint8_t *memory, *staging; /* AROUND + SIZE + AROUND of the owner, SIZE of the initiator */
	struct zregion *region;
	struct zrma_exposure exposure;
};

static void exchange(struct zlink *from, struct zlink *to)
{
	struct inbox in;
	inbox_init(&in);
	assert_int_equal(post_message(from, 0, 10), 0);
	assert_int_equal(from->ops->flush(from), 0);
	receive_until(to, &in, 1);
	inbox_fini(&in);
}

/* A pair that has exchanged messages, as its capabilities are known only then. false: they are not allowed here. */
static bool open_ends(struct ends *e, struct fixture *f)
{
	struct zerr err;
	*e = (struct ends){.pair = fixture_pair(f), .rma = f->ops->rma};
	exchange(e->pair.a, e->pair.b);
	exchange(e->pair.b, e->pair.a);
	e->memory = malloc(AROUND + SIZE + AROUND);
	e->staging = malloc(SIZE);
	assert_true(e->memory && e->staging);
	memset(e->memory, OLD, AROUND + SIZE + AROUND);
	memset(e->staging, 0, SIZE);
	e->rma->limits(e->pair.b, &e->limits);
	if (e->limits.reads == 0) {
		print_message("# the other side's memory cannot be reached here\n");
		return false;
	}
	assert_true(e->limits.writes > 0 && e->limits.max_bytes > 0);
	if (e->rma->reg(e->pair.b, ZLINK_RX, e->staging, SIZE, &e->region, &err) != 0)
		fail_msg("%s", err.text);
	return true;
}

static void close_ends(struct ends *e)
{
	pair_close(&e->pair);
	if (e->region)
		e->rma->unreg(e->region);
	free(e->memory);
	free(e->staging);
}

static void expose(struct ends *e, enum zlink_half half)
{
	assert_int_equal(e->rma->expose(e->pair.a, half, e->memory + AROUND, SIZE, &e->exposure), 0);
}

/* Both ends get their turns, as an emulated device may need them. */
static int reap(struct ends *e, enum zlink_half half, struct zrma_done *done)
{
	struct inbox none;
	int rc;
	inbox_init(&none);
	struct zsink sink = inbox_sink(&none);
	for (int turns = 0; (rc = e->rma->reap(e->pair.b, half, done, 1)) == 0; turns++) {
		e->pair.a->ops->poll(e->pair.a, &sink, 1);
		if (turns > 1000)
			sleep_on(e->pair.b, half, 10);
		sched_yield();
		assert_true(turns < 100000);
	}
	inbox_fini(&none);
	return rc;
}

/* Moves everything in pieces of len bytes. */
static void move(struct ends *e, enum zlink_half half, size_t len)
{
	for (size_t at = 0; at < SIZE; at += len) {
		struct zrma_done done;
		struct zrma_op op = {.key = e->exposure.key,
			.offset = at,
			.local = e->staging + at,
			.len = SIZE - at < len ? SIZE - at : len,
			.region = e->region,
			.cookie = e->staging + at};
		int rc = half == ZLINK_RX ? e->rma->read(e->pair.b, &op) : e->rma->write(e->pair.b, &op);
		assert_int_equal(rc, 0);
		assert_int_equal(reap(e, half, &done), 1);
		assert_ptr_equal(done.cookie, op.cookie);
		assert_int_equal(done.rc, 0);
	}
}

static void reads_what_was_exposed(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		memcpy(e.memory + AROUND, payload_of(7, SIZE), SIZE);
		expose(&e, ZLINK_TX);
		move(&e, ZLINK_RX, 65536 < e.limits.max_bytes ? 65536 : e.limits.max_bytes);
		assert_memory_equal(e.staging, payload_of(7, SIZE), SIZE);
		e.rma->conceal(e.pair.a, &e.exposure);
	}
	close_ends(&e);
}

static void writes_nothing_around(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		memcpy(e.staging, payload_of(8, SIZE), SIZE);
		expose(&e, ZLINK_RX);
		move(&e, ZLINK_TX, 50001 < e.limits.max_bytes ? 50001 : e.limits.max_bytes);
		assert_memory_equal(e.memory + AROUND, payload_of(8, SIZE), SIZE);
		for (size_t i = 0; i < AROUND; i++)
			assert_true(e.memory[i] == OLD && e.memory[AROUND + SIZE + i] == OLD);
		e.rma->conceal(e.pair.a, &e.exposure);
	}
	close_ends(&e);
}

/* Where the link says so, a message finds the bytes in place that were written before it, in many pieces. */
static void messages_come_after_writes(void **state)
{
	struct ends e;
	if (open_ends(&e, *state) && e.rma->is_ordered(e.pair.b)) {
		struct zrma_done done;
		for (uint64_t k = 0; k < 20; k++) {
			const size_t len = SIZE / 8 < e.limits.max_bytes ? SIZE / 8 : e.limits.max_bytes;
			memcpy(e.staging, payload_of(k, SIZE), SIZE);
			expose(&e, ZLINK_RX);
			uint32_t n = 0;
			for (; n < e.limits.writes && n < 8; n++) {
				struct zrma_op op = {.key = e.exposure.key,
					.offset = n * len,
					.local = e.staging + n * len,
					.len = len,
					.region = e.region,
					.more = true};
				assert_int_equal(e.rma->write(e.pair.b, &op), 0);
			}
			exchange(e.pair.b, e.pair.a);
			assert_memory_equal(e.memory + AROUND, payload_of(k, SIZE), n * len);
			e.rma->conceal(e.pair.a, &e.exposure); /* no more messages come */
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(reap(&e, ZLINK_TX, &done), 1);
				assert_int_equal(done.rc, 0);
			}
		}
	}
	close_ends(&e);
}

/* The same memory again and again, as applications do; and nothing is left to report. */
static void exposes_again(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		struct zrma_done done;
		for (uint64_t k = 0; k < 20; k++) {
			memcpy(e.memory + AROUND, payload_of(k, SIZE), SIZE);
			expose(&e, ZLINK_TX);
			move(&e, ZLINK_RX, 100000 < e.limits.max_bytes ? 100000 : e.limits.max_bytes);
			assert_memory_equal(e.staging, payload_of(k, SIZE), SIZE);
			e.rma->conceal(e.pair.a, &e.exposure);
		}
		assert_int_equal(e.rma->reap(e.pair.b, ZLINK_RX, &done, 1), 0);
		assert_int_equal(e.rma->reap(e.pair.b, ZLINK_TX, &done, 1), 0);
	}
	close_ends(&e);
}

/* Memory is unmapped and mapped again at the same address, with other contents: registrations of the old pages must not
 * be used for the new ones. */
static void memory_that_was_mapped_again(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		const size_t len = AROUND + SIZE + AROUND;
		uint8_t *at = NULL, *kept = e.memory;
		for (uint64_t k = 0; k < 10; k++) {
			e.memory = mmap(at, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
			assert_true(e.memory != MAP_FAILED);
			at = e.memory;
			memcpy(e.memory + AROUND, payload_of(k, SIZE), SIZE);
			for (int times = 0; times < 2; times++) {
				memset(e.staging, 0, SIZE);
				expose(&e, ZLINK_TX);
				move(&e, ZLINK_RX, 100000 < e.limits.max_bytes ? 100000 : e.limits.max_bytes);
				assert_memory_equal(e.staging, payload_of(k, SIZE), SIZE);
				e.rma->conceal(e.pair.a, &e.exposure);
			}
			memcpy(e.staging, payload_of(k + 100, SIZE), SIZE);
			expose(&e, ZLINK_RX);
			move(&e, ZLINK_TX, 100000 < e.limits.max_bytes ? 100000 : e.limits.max_bytes);
			e.rma->conceal(e.pair.a, &e.exposure);
			assert_memory_equal(e.memory + AROUND, payload_of(k + 100, SIZE), SIZE);
			munmap(e.memory, len);
		}
		e.memory = kept;
	}
	close_ends(&e);
}

/* As many operations as allowed at a time; one more is refused. */
static void keeps_to_its_limit(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		const uint32_t most = e.limits.reads < 256 ? e.limits.reads : 256;
		uint32_t started = 0, reported = 0;
		int rc = 0;
		memcpy(e.memory + AROUND, payload_of(3, SIZE), SIZE);
		expose(&e, ZLINK_TX);
		while (started < most && rc == 0) {
			struct zrma_op op = {.key = e.exposure.key,
				.offset = started,
				.local = e.staging + started,
				.len = 1,
				.region = e.region,
				.cookie = &e,
				.more = started + 1 < most};
			rc = e.rma->read(e.pair.b, &op);
			started += rc == 0;
		}
		assert_int_equal(rc, 0);
		while (reported < started) {
			struct zrma_done done;
			assert_int_equal(reap(&e, ZLINK_RX, &done), 1);
			assert_int_equal(done.rc, 0);
			reported++;
		}
		assert_memory_equal(e.staging, payload_of(3, SIZE), started);
		e.rma->conceal(e.pair.a, &e.exposure);
	}
	close_ends(&e);
}

/* How far behind the end a refusal begins: at once. Only where memory windows are asked for, although the device is
 * Soft-RoCE, it begins behind the region that the window is in, which has whole pages. */
static size_t slack(void)
{
	const char *windows = getenv("ZIPPER_VERBS_WINDOWS");
	return windows && strcmp(windows, "yes") == 0 ? 65536 : 0;
}

/* Reading behind the end breaks the half: at once, or in order: first the operation, then the half. */
static void refuses_what_is_not_exposed(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		struct zrma_done done;
		expose(&e, ZLINK_TX);
		struct zrma_op op = {.key = e.exposure.key,
			.offset = SIZE - 10,
			.local = e.staging,
			.len = 11 + slack(),
			.region = e.region,
			.cookie = &e};
		int rc = e.rma->read(e.pair.b, &op);
		assert_true(rc <= 0);
		if (rc == 0) {
			assert_int_equal(reap(&e, ZLINK_RX, &done), 1);
			assert_true(done.rc < 0 && done.cookie == &e);
		}
		assert_true(reap(&e, ZLINK_RX, &done) < 0);
		e.rma->conceal(e.pair.a, &e.exposure);
	}
	close_ends(&e);
}

/* The initiator's memory, too, is mapped again between transfers: memory that was pinned for the old pages must not be
 * used. */
static void pins_memory_of_others(void **state)
{
	struct ends e;
	if (open_ends(&e, *state)) {
		uint8_t *at = NULL, *kept = e.staging;
		e.rma->unreg(e.region);
		memcpy(e.memory + AROUND, payload_of(5, SIZE), SIZE);
		expose(&e, ZLINK_TX);
		for (int k = 0; k < 10; k++) {
			e.staging = mmap(at, SIZE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
			assert_true(e.staging != MAP_FAILED);
			at = e.staging;
			for (int times = 0; times < 2; times++) {
				memset(e.staging, 0, SIZE);
				assert_int_equal(e.rma->pin(e.pair.b, ZLINK_RX, e.staging, SIZE, &e.region), 0);
				move(&e, ZLINK_RX, 100000 < e.limits.max_bytes ? 100000 : e.limits.max_bytes);
				e.rma->unpin(e.region);
				assert_memory_equal(e.staging, payload_of(5, SIZE), SIZE);
			}
			munmap(e.staging, SIZE);
		}
		e.rma->conceal(e.pair.a, &e.exposure);
		e.staging = kept;
		e.region = NULL;
	}
	close_ends(&e);
}

const struct link_test transport_rma_tests[] = {
	LINK_TEST(reads_what_was_exposed),
	LINK_TEST(writes_nothing_around),
	LINK_TEST(messages_come_after_writes),
	LINK_TEST(exposes_again),
	LINK_TEST(memory_that_was_mapped_again),
	LINK_TEST(pins_memory_of_others),
	LINK_TEST(keeps_to_its_limit),
	LINK_TEST(refuses_what_is_not_exposed),
	{NULL, NULL},
};
