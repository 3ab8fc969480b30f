/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipcast over Verbs, on the fake of libibverbs, which is part of this program: blocks that are written into members'
 * memory, blocks that are copied, and faults. verbs-units.t runs it for several kinds of devices, FAKEVERBS.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/unit/zipcast/cases.h"
#include "test/unit/zipcast/ends.h"
#include "test/unit/within.h"
#include "common/base/clock.h"
#include "zipcast/end.h"
#include "test/fakeverbs/fabric.h"

#define BLOCK 65536u

static int setup(void **state)
{
	memset(fake_fabric()->fault, 0, sizeof(fake_fabric()->fault));
	fake_fabric()->complaints = 0;
	*state = (void *)(uintptr_t) "verbs";
	return 0;
}

static int teardown(void **state)
{
	unsigned qps = 0, keys = 0;
	(void)state;
	for (int i = 0; i < FAKE_QPS; i++)
		qps += fake_fabric()->qp[i].used;
	for (int i = 0; i < FAKE_KEYS; i++)
		keys += fake_fabric()->key[i].used;
	if (qps || keys || fake_fabric()->complaints)
		print_error("%u queue pairs and %u registrations are left, %u complaints\n", qps, keys,
			fake_fabric()->complaints);
	return qps || keys || fake_fabric()->complaints;
}

static void fault(enum fake_point point, int value, uint32_t after, uint32_t times)
{
	fake_lock(fake_fabric());
	fake_fabric()->fault[point] = (struct fake_fault){.value = value, .after = after, .times = times};
	fake_unlock(fake_fabric());
}

static uint64_t writes(void)
{
	fake_lock(fake_fabric());
	uint64_t n = fake_fabric()->operations[FAKE_WRITE];
	fake_unlock(fake_fabric());
	return n;
}

/* Payload bytes of all nodes so far; the nodes are at rest. */
static uint64_t copied(const struct cast *c)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->zc[i]->nup; k++) {
			const struct zlink *z = c->zc[i]->up[k]->link.zlink;
			bytes += z->ops->copied(z, ZLINK_TX) + z->ops->copied(z, ZLINK_RX);
		}
	return bytes;
}

static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void open_group(struct cast *c, struct cast_member *m, const char *algorithm, uint32_t n)
{
	memset(m, 0, n * sizeof(*m));
	cast_open(c, "verbs", n, ZIPCAST_HYBRID);
	cast_group(c, m,
		&(struct zipcast_group_config){.number = 1,
			.nmembers = n,
			.members = all,
			.algorithm = algorithm,
			.block_bytes = BLOCK});
}

static void close_group(struct cast *c, struct cast_member *m)
{
	cast_destroy(m, c->n);
	cast_close(c);
}

/* Sends messages until all links have changed over to their queue pairs: blocks before that go as messages. Returns
 * their number. */
static uint32_t warm_up(struct cast *c, struct cast_member *m)
{
	for (uint32_t i = 2; i < 200; i += 2) {
		uint64_t before = copied(c), written = writes();
		cast_send(&m[0], i - 1, 10 * BLOCK);
		cast_send(&m[0], i, BLOCK); /* a single block may take another way */
		cast_wait_complete(m, c->n, i);
		if (writes() - written == 9 * (c->n - 1) && copied(c) - before >= 4 * (c->n - 1) * BLOCK)
			return i;
	}
	fail_msg("messages go over TCP");
	return 0;
}

/* The first block of each message is copied, once at each end of each link that it takes. All other blocks are written
 * into each member's memory. Keys and texts are copied, too. */
static void blocks_are_written(void **state)
{
	static const char *const algorithms[] = {"sequential", "tree", "chain", "pipeline"};
	const struct {
		uint64_t bytes, blocks;
	} message[] = {{10 * BLOCK, 10}, {1, 1}, {2 * BLOCK, 2}, {50 * BLOCK, 50}, {BLOCK, 1}, {3 * BLOCK, 3}};
	(void)state;
	for (uint32_t a = 0; a < 4; a++)
		for (uint32_t n = 2; n <= 8; n += 3) {
			static struct cast_member m[8];
			struct cast c;
			open_group(&c, m, algorithms[a], n);
			uint32_t sent = warm_up(&c, m);
			for (uint32_t i = 0; i < sizeof(message) / sizeof(message[0]); i++) {
				uint64_t written = writes(), before = copied(&c);
				cast_send(&m[0], ++sent, message[i].bytes);
				cast_wait_complete(m, n, sent);
				assert_int_equal(writes() - written, (n - 1) * (message[i].blocks - 1));
				uint64_t first = message[i].bytes < BLOCK ? message[i].bytes : BLOCK,
					 most = copied(&c) - before;
				assert_within(most, 2 * (n - 1) * first, 2 * (n - 1) * (first + 8 * 24));
			}
			close_group(&c, m);
		}
}

/* Small blocks go as messages, and with one_sided=no all blocks do. */
static void small_blocks_are_sent(void **state)
{
	static struct cast_member m[2];
	struct cast c;
	(void)state;
	memset(m, 0, sizeof(m));
	cast_open(&c, "verbs", 2, ZIPCAST_HYBRID);
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = all, .block_bytes = 65535});
	uint64_t written = writes();
	cast_send(&m[0], 1, 100000);
	cast_send(&m[0], 2, 100000);
	cast_wait_complete(m, 2, 2);
	assert_int_equal(writes(), written);
	close_group(&c, m);
}

/* Memory cannot be registered, at one end or both, for some time or ever: the same bytes arrive. */
static void memory_that_is_refused(void **state)
{
	static struct cast_member m[4];
	struct cast c;
	(void)state;
	for (uint32_t after = 0; after < 12; after++) {
		open_group(&c, m, "pipeline", 4);
		cast_send(&m[0], 1, 20 * BLOCK);
		cast_wait_complete(m, 4, 1);
		/* what is not asked for is no error: each of the four has kept registrations by now, or has none */
		fault(FAKE_REG, after % 2 ? ENOMEM : EINVAL, after / 2, after < 8 ? 1 : 1000000);
		fault(FAKE_MW, ENOMEM, 0, 1000000);
		for (uint32_t i = 2; i < 6; i++)
			cast_send(&m[0], i, cast_size(after, i, 40 * BLOCK));
		cast_wait_complete(m, 4, 5);
		fault(FAKE_REG, 0, 0, 0);
		fault(FAKE_MW, 0, 0, 0);
		close_group(&c, m);
	}
}

/* No block is written, as no memory can be registered. */
static void nothing_can_be_registered(void **state)
{
	static struct cast_member m[4];
	struct cast c;
	(void)state;
	open_group(&c, m, "chain", 4);
	cast_send(&m[0], 1, BLOCK); /* the links have their own memory by now */
	cast_wait_complete(m, 4, 1);
	fault(FAKE_REG, ENOMEM, 0, 1000000);
	uint64_t written = writes(), before = copied(&c);
	cast_send(&m[0], 2, 30 * BLOCK);
	cast_send(&m[0], 3, 30 * BLOCK);
	cast_wait_complete(m, 4, 3);
	assert_int_equal(writes(), written);
	assert_true(copied(&c) - before >= 2 * 3 * 30 * BLOCK);
	fault(FAKE_REG, 0, 0, 0);
	close_group(&c, m);
}

/* A write that completes in error ends its link: all members hear of it, once. */
static void writes_that_fail(void **state)
{
	static const int status[] = {IBV_WC_REM_ACCESS_ERR, IBV_WC_RETRY_EXC_ERR, IBV_WC_LOC_PROT_ERR};
	static struct cast_member m[4];
	static uint8_t data[200 * BLOCK];
	struct cast c;
	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		open_group(&c, m, i % 2 ? "chain" : "pipeline", 4);
		cast_send(&m[0], 1, 20 * BLOCK);
		cast_wait_complete(m, 4, 1);
		fault(FAKE_WRITE, status[i / 2], 37 * i, 1);
		m[0].kept = data;
		assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
		cast_wait_failed(m, 4);
		for (uint32_t k = 0; k < 4; k++)
			assert_true(m[k].failed == 1 && m[k].complete <= 2);
		close_group(&c, m);
	}
}

/* Waits until the node sleeps with n writes under way on its link. */
static void wait_for_writes(struct zipcast *zc, uint32_t n)
{
	int i = 0;
	while (!atomic_load(&zc->asleep) || zc->up[0]->link.writes != n) {
		assert_true(i++ < 60000);
		usleep(1000);
	}
}

/* A block is written and reported, but its WRITTEN is lost. The sender has nothing more to do, and still hears of the
 * loss. */
static void a_word_is_lost_behind_its_write(void **state)
{
	static struct cast_member m[2];
	struct fake_fabric *f = fake_fabric();
	struct cast c;
	(void)state;
	memset(m, 0, sizeof(m));
	cast_open(&c, "verbs", 2, ZIPCAST_INTERRUPTS);
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = all, .block_bytes = BLOCK});
	const uint32_t sent = warm_up(&c, m);
	const int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	fake_lock(f);
	fake_keep(f, sock, -1);
	fake_unlock(f);
	cast_send(&m[0], sent + 1, 2 * BLOCK);
	wait_for_writes(c.zc[0], 1);
	fake_lock(f);
	fake_silence(f, sock, -1);
	fake_keep(f, sock, 0);
	fake_unlock(f);
	wait_for_writes(c.zc[0], 0);
	fault(FAKE_SEND, IBV_WC_RETRY_EXC_ERR, 0, 1);
	fake_lock(f);
	fake_silence(f, sock, 0);
	fake_unlock(f);
	close(sock);
	cast_wait_failed(m, 2);
	close_group(&c, m);
}

static uint32_t set_lag(uint32_t us)
{
	fake_lock(fake_fabric());
	uint32_t before = fake_fabric()->device[0].lag_us;
	fake_fabric()->device[0].lag_us = us;
	fake_unlock(fake_fabric());
	return before;
}

static void fail_group(void *arg, void *data, uint64_t bytes)
{
	(void)data;
	(void)bytes;
	zend_fail(arg, 0, "the test says so");
}

/* The member's group fails, without a word from another node, which may be late. Returns after how many milliseconds
 * the member hears of that. */
static int64_t fail_member(struct cast_member *m)
{
	static uint8_t byte;
	struct zipcast_group *g;
	char why[ZIPCAST_WHY_BYTES];
	assert_int_equal(zipcast_group_create(&g, m->cast->zc[m->node],
				 &(struct zipcast_group_config){.number = 99, .nmembers = 1, .members = &m->node},
				 &(struct zipcast_events){NULL, fail_group, NULL, m->group}, why),
		0);
	const int64_t start_ms = zclock_ms();
	assert_int_equal(zipcast_send(g, &byte, 1), 0);
	cast_wait_failed(m, 1);
	const int64_t took_ms = zclock_ms() - start_ms;
	zipcast_group_destroy(g);
	return took_ms;
}

/* A device reports completions late: until then, memory that it writes from is not given back. */
static void an_end_waits_for_writes(void **state)
{
	static struct cast_member m[2];
	static uint8_t data[400 * BLOCK];
	struct cast c;
	(void)state;
	memset(m, 0, sizeof(m));
	cast_open(&c, "verbs", 2, ZIPCAST_POLL); /* a sleeping thread would be woken early */
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = all, .block_bytes = BLOCK});
	warm_up(&c, m);
	const uint64_t written = writes();
	const uint32_t lag = set_lag(1000000);
	m[0].kept = data;
	assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
	for (int i = 0; i < 60000 && writes() == written; i++)
		usleep(1000);
	assert_true(writes() > written);
	assert_true(fail_member(&m[0]) > 100);
	set_lag(lag);
	cast_wait_failed(&m[1], 1);
	close_group(&c, m);
}

#define LONG_BYTES ((size_t)256 << 20)

/* The root begins to write a long message of zeros, and the device reports nothing for five seconds. Returns the
 * setting that the caller restores. */
static uint32_t write_into_the_void(struct cast_member *root, uint8_t *zeros, uint32_t sent)
{
	root->kept = zeros;
	for (int tries = 0; tries < 10; tries++) {
		const uint64_t written = writes();
		assert_int_equal(zipcast_send(root->group, zeros, LONG_BYTES), 0);
		while (writes() == written)
			;
		const uint32_t lag = set_lag(5000000);
		usleep(100000);
		if (root->group->message.number == ++sent && root->group->writes > 0)
			return lag;
		set_lag(lag);
		cast_wait_complete(root, 1, sent);
	}
	fail_msg("the machine is too busy");
	return 0;
}

/* It does not wait for ever, either: a node that does not take writes loses its link, and other groups with it. */
static void an_end_gives_writes_up(void **state)
{
	static struct cast_member m[2], o[2];
	uint8_t *zeros = calloc(1, LONG_BYTES);
	struct cast c;
	(void)state;
	assert_non_null(zeros);
	memset(m, 0, sizeof(m));
	memset(o, 0, sizeof(o));
	cast_open(&c, "verbs", 2, ZIPCAST_POLL);
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = all, .block_bytes = BLOCK});
	cast_group(&c, o, &(struct zipcast_group_config){.number = 2, .nmembers = 2, .members = all});
	m[1].unchecked = true;
	const uint32_t lag = write_into_the_void(&m[0], zeros, warm_up(&c, m));
	assert_within(fail_member(&m[0]), 1900, 4500);
	set_lag(lag);
	cast_wait_failed(&m[1], 1);
	cast_wait_failed(o, 2);
	assert_non_null(strstr(o[0].why, "node 1"));
	cast_destroy(o, 2);
	close_group(&c, m);
	free(zeros);
}

/* --- destroyed in the middle of a message, in a callback of another group: its memory is free on return --- */

struct destroyer {
	struct zipcast_group *victim;
	void **buffer;
	_Atomic bool done;
};

static void *give_static(void *arg, uint64_t bytes)
{
	static uint8_t memory[1000];
	(void)arg;
	return bytes <= sizeof(memory) ? memory : NULL;
}

static void destroy_other(void *arg, void *data, uint64_t bytes)
{
	struct destroyer *d = arg;
	(void)data;
	(void)bytes;
	zipcast_group_destroy(d->victim);
	free(*d->buffer);
	*d->buffer = NULL;
	d->done = true;
}

static void destroyed_by_a_callback(void **state)
{
	static struct cast_member m[2];
	static uint8_t data[400 * BLOCK];
	(void)state;
	for (uint32_t k = 0; k < 5; k++) {
		struct cast c;
		struct destroyer d = {.done = false};
		struct zipcast_group *g[2];
		char why[ZIPCAST_WHY_BYTES];
		open_group(&c, m, "chain", 2);
		const struct zipcast_group_config config = {.number = 2, .nmembers = 2, .members = all};
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(zipcast_group_create(&g[i], c.zc[i], &config,
						 &(struct zipcast_events){give_static, i ? destroy_other : NULL, NULL,
							 &d},
						 why),
				0);
		d.victim = m[1].group;
		d.buffer = &m[1].buffer;
		m[0].kept = data;
		assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
		usleep(k * 1000);
		assert_int_equal(zipcast_send(g[0], data, 100), 0);
		for (int i = 0; i < 60000 && !d.done; i++) /* until then the message may still arrive */
			usleep(1000);
		assert_true(d.done);
		if (m[1].complete == 0)
			cast_wait_failed(m, 1);
		m[1].group = NULL;
		for (uint32_t i = 0; i < 2; i++)
			zipcast_group_destroy(g[i]);
		cast_close(&c);
	}
}

/* The same for a member that writes from its memory to a slow receiver: other groups do not wait for that. */
static void writer_destroyed_by_a_callback(void **state)
{
	static struct cast_member m[2];
	uint8_t *zeros = calloc(1, LONG_BYTES);
	static void *none;
	struct cast c;
	struct destroyer d = {.buffer = &none};
	struct zipcast_group *g;
	char why[ZIPCAST_WHY_BYTES];
	(void)state;
	assert_non_null(zeros);
	memset(m, 0, sizeof(m));
	cast_open(&c, "verbs", 2, ZIPCAST_POLL);
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = all, .block_bytes = BLOCK});
	assert_int_equal(zipcast_group_create(&g, c.zc[0],
				 &(struct zipcast_group_config){.number = 2, .nmembers = 1, .members = all},
				 &(struct zipcast_events){NULL, destroy_other, NULL, &d}, why),
		0);
	m[1].unchecked = true;
	const uint32_t lag = write_into_the_void(&m[0], zeros, warm_up(&c, m));
	d.victim = m[0].group;
	const int64_t start_ms = zclock_ms();
	assert_int_equal(zipcast_send(g, zeros, 100), 0);
	for (int i = 0; i < 60000 && !d.done; i++)
		usleep(1000);
	assert_within(zclock_ms() - start_ms, 90, 1900);
	set_lag(lag);
	cast_wait_failed(&m[1], 1);
	m[0].group = NULL;
	m[0].buffer = NULL;
	zipcast_group_destroy(g);
	close_group(&c, m);
	free(zeros);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_members),
		TEST(seven_members),
		TEST(eight_sleeping_members),
		TEST(three_polling_members),
		TEST(overlapping_groups),
		TEST(failure_of_a_member),
		TEST(member_that_comes_late),
		TEST(member_that_comes_too_late),
		TEST(no_memory_for_a_message),
		TEST(leaving_an_idle_group),
		TEST(going_from_an_idle_group),
		TEST(two_roots),
		TEST(a_member_that_never_comes),
		TEST(destroying_in_the_middle),
		TEST(end_of_an_idle_group),
		TEST(end_behind_what_was_accepted),
		TEST(end_by_a_call),
		TEST(end_before_members_come),
		TEST(end_of_a_group_that_a_member_has_left),
		TEST(end_that_lacks_a_member),
		TEST(end_of_members_that_others_do_not_need),
		TEST(root_that_closes_with_messages),
		TEST(blocks_are_written),
		TEST(a_word_is_lost_behind_its_write),
		TEST(small_blocks_are_sent),
		TEST(memory_that_is_refused),
		TEST(nothing_can_be_registered),
		TEST(writes_that_fail),
		TEST(an_end_waits_for_writes),
		TEST(an_end_gives_writes_up),
		TEST(destroyed_by_a_callback),
		TEST(writer_destroyed_by_a_callback),
	};
	char modules[512];
	const char *top = getenv("ZIP_TOP_BUILDDIR");
	snprintf(modules, sizeof(modules), "%s/common/.libs", top ? top : "..");
	setenv("FAKEVERBS", "fka/mw/tds=8", 0);
	setenv("ZIPPER_MODULE_DIR", modules, 1);
	setenv("ZIPPER_DEVICE", "fka:1", 1);
	return fake_fabric() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
