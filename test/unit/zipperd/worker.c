/* SPDX-License-Identifier: BSD-3-Clause */
/* A pair of workers of zipperd over a transport that does as the test says: what they give back to the control thread
 * at the end of a job, and when; and what wakes them. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/zipperd/worker_fixture.h"

/* Waits until the worker has given up the half. */
static void expect_given_up(struct fake_half *h)
{
	wait_until(&h->given_up, true);
}

static void moves_a_message(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	answer(&b);
	wait_for(&b.to_link.tx.tried, 1);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

/* The worker looks for as long as it was told, and then sleeps. */
static void looks_before_it_sleeps(void **state)
{
	struct bench b;
	(void)state;
	for (int i = 0; i < 2; i++) {
		start_polling(&b, i ? 50000000 : INT64_C(3600) * 1000000000);
		atomic_store(&b.from_link.shown, 1);
		answer(&b);
		wait_for(&b.to_link.tx.tried, 1);
		usleep(20000);
		if (i == 0)
			assert_int_equal(atomic_load(&b.from_link.arms), 0);
		else
			wait_for(&b.from_link.arms, 1);
		drop_all(&b);
		expect(&b, EVENT_HALF_GONE, b.from);
		expect(&b, EVENT_HALF_GONE, b.to);
		expect(&b, EVENT_LANE_GONE, NULL);
		halt(&b);
	}
}

/* Two workers share a thread that sleeps: either can be woken. */
static void both_wake_their_thread(void **state)
{
	struct budget budget = {.limit = 64 << 20};
	struct worker_pair pair;
	struct zerr err;
	const struct worker_params params = {.from = "a",
		.to = "b",
		.eager_bytes = 4096,
		.frag_bytes = 65536,
		.budget = &budget,
		.control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.spin = 0,
		.shared = true};
	(void)state;
	assert_int_equal(worker_pair_start(&pair, &params, &err), 0);
	for (int i = 0; i < 10; i++) {
		struct bench b = {.w = pair.worker[i % 2], .lane = lane_create(1, 2)};
		usleep(5000);
		b.lane->worker = b.w;
		command(&b, &(struct command){.kind = CMD_ADD_LANE, .lane = b.lane});
		usleep(5000);
		command(&b, &(struct command){.kind = CMD_DROP_LANE, .lane = b.lane});
		expect(&b, EVENT_LANE_GONE, NULL);
		lane_destroy(b.lane);
	}
	worker_pair_stop(&pair);
	worker_pair_free(&pair);
	close(params.control_fd);
}

/* The job ends while a device uses its memory: the lane has to wait for the last half. */
static void lane_waits_for_a_write(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	atomic_store(&b.to_link.tx.held, true);
	answer(&b);
	wait_for(&b.to_link.tx.tried, 1);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect_given_up(&b.to_link.tx);
	assert_false(atomic_load(&b.from_link.rx.given_up));
	atomic_store(&b.to_link.tx.held, false);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

static void lane_waits_for_a_read(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	atomic_store(&b.from_link.rx.held, true);
	answer(&b);
	wait_for(&b.from_link.rx.tried, 1);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect_given_up(&b.from_link.rx);
	assert_false(atomic_load(&b.to_link.tx.given_up));
	atomic_store(&b.from_link.rx.held, false);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

/* Pieces that wait for the link are given up with the half, which goes once: then its memory is the control thread's.
 */
static void half_goes_once(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	atomic_store(&b.to_link.tx.full, true);
	answer(&b);
	wait_for(&b.to_link.tx.tried, 2); /* the piece is in the queue of that link */
	command(&b, &(struct command){.kind = CMD_DROP_TX, .tx = &b.to->tx});
	expect(&b, EVENT_HALF_GONE, b.to);
	memset(b.to, 0xff, sizeof(*b.to)); /* a write to it, as free would be */
	command(&b, &(struct command){.kind = CMD_DROP_SOURCE, .source = &b.from->source});
	expect(&b, EVENT_HALF_GONE, b.from);
	command(&b, &(struct command){.kind = CMD_DROP_LANE, .lane = b.lane});
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

/* A full link is left to its descriptor. A flush may find room before epoll tells, and fill the link again. Then the
 * link must be armed anew, as the flush has used up its arming. */
static void full_link_is_armed_again(void **state)
{
	struct bench b;
	struct fake_link *to = &b.to_link;
	(void)state;
	start_polling(&b, 0);
	atomic_store(&b.from_link.small, true);
	for (int i = 0; i < 3; i++) {
		atomic_store(&to->holding, true);
		atomic_store(&b.from_link.shown, 1);
		wait_until(&to->sleeping, true); /* the first message is taken, and held back */
		atomic_store(&to->holding, false);
		atomic_store(&b.from_link.shown, 1);
		wait_until(&to->sleeping, false); /* the second message goes, and with it the first */
		atomic_store(&to->refusing, true);
		atomic_store(&b.from_link.shown, 1);
		wait_until(&to->sleeping, true);
		assert_int_equal(atomic_load(&to->posts), 3 * i + 2);
		atomic_store(&to->refusing, false);
		eventfd_write(to->fd, 1);
		wait_for(&to->posts, 3 * i + 3);
		eventfd_t ignored;
		eventfd_read(to->fd, &ignored);
	}
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

/* Likewise where a message finds a link full that was armed for the rest of a flush: the link may forget by that, too.
 */
static void refused_link_is_armed_again(void **state)
{
	struct bench b;
	struct fake_link *to = &b.to_link;
	(void)state;
	start_polling(&b, 0);
	atomic_store(&b.from_link.small, true);
	atomic_store(&to->holding, true);
	atomic_store(&b.from_link.shown, 1);
	wait_until(&to->sleeping, true);
	atomic_store(&to->refusing, true);
	atomic_store(&b.from_link.shown, 1);
	while (atomic_load(&b.from_link.shown) > 0)
		sched_yield();
	wait_until(&to->sleeping, true);
	assert_int_equal(atomic_load(&to->posts), 1);
	atomic_store(&to->refusing, false);
	atomic_store(&to->holding, false);
	eventfd_write(to->fd, 1);
	wait_for(&to->posts, 2);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

static void send(struct lane *l, uint64_t seq)
{
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .dst = 1, .seq = seq};
	assert_int_equal(dest_send(l->worker, lane_dest(l, 0), &env), 0);
}

/* The same in steps: the link takes a message, is left to its descriptor, and then flushes the message with success.
 */
static void full_link_is_armed_after_a_flush(void **state)
{
	static const struct place places[2] = {{0, 0}, {1, 0}};
	struct budget budget = {.limit = 64 << 20};
	struct worker w = {.wake_fd = -1, .control_fd = -1, .tx_epoll = epoll_create1(EPOLL_CLOEXEC)};
	struct lane *l = lane_create(1, 2);
	struct fake_link to;
	struct channel *c = fake_channel(&to);
	(void)state;
	assert_non_null(l);
	assert_int_equal(pool_init(&w.pool, &budget, 4096, 65536), 0);
	list_init(&w.touched);
	list_init(&w.blocked);
	w.lanes = l;
	l->nstations = 2;
	l->place = places;
	l->limits = (struct lane_limits){4096, 65536, 1 << 20, 1 << 20};
	l->worker = &w;
	dest_add_tx(&w, lane_dest(l, 0), &c->tx);

	atomic_store(&to.holding, true);
	send(l, 1);
	dest_flush_touched(&w);
	while (!l->dest[0].cold) {
		if (l->dest[0].tries == 16)
			send(l, 2);
		dest_try_blocked(&w);
	}
	assert_true(atomic_load(&to.sleeping));
	atomic_store(&to.holding, false);
	dest_flush_touched(&w);
	assert_false(atomic_load(&to.sleeping));
	atomic_store(&to.refusing, true);
	send(l, 3);
	assert_false(list_empty(&w.blocked));

	dest_drop_tx(&w, &c->tx);
	half_clear_lane(&w, l);
	pool_fini(&w.pool);
	lane_destroy(l);
	free(c);
	close(to.fd);
	close(w.tx_epoll);
}

/* The kernel bounds the number of watched descriptors: a full link must not be left to a descriptor that is not
 * watched. */
static void full_link_that_cannot_be_watched_is_tried(void **state)
{
	struct bench b;
	struct fake_link *to = &b.to_link;
	FILE *file = tmpfile(); /* cannot be in an epoll set; stands for all errors */
	(void)state;
	assert_non_null(file);
	start_polling(&b, 0);
	int fd = to->fd;
	to->fd = fileno(file);
	atomic_store(&to->refusing, true);
	atomic_store(&b.from_link.small, true);
	atomic_store(&b.from_link.shown, 1);
	wait_until(&to->sleeping, true);
	atomic_store(&to->refusing, false);
	wait_for(&to->posts, 1);
	to->fd = fd;
	fclose(file);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

/* A command that comes after a worker has looked for the last time before it sleeps. */
struct late {
	struct bench b;
	struct lane *lane;
	uint32_t phase, polls;
};

static void command_late(void *arg)
{
	struct late *l = arg;
	struct fake_link *from = &l->b.from_link;
	eventfd_t ignored;
	if (++l->polls < 1000 || l->b.w->turns % 32 != l->phase)
		return; /* it yields before it sleeps */
	atomic_store(&from->interrupts, false);
	atomic_store(&from->quiet, true);
	eventfd_read(from->fd, &ignored);
	command(&l->b, &(struct command){.kind = CMD_ADD_LANE, .lane = l->lane});
	command(&l->b, &(struct command){.kind = CMD_DROP_LANE, .lane = l->lane});
}

/* The command wakes the worker, whatever else it does in that turn. It has a full link, so that it looks at its
 * descriptors now and then. */
static void late_command_is_heard(void **state)
{
	struct late l;
	struct bench *b = &l.b;
	(void)state;
	start_polling(b, 0);
	atomic_store(&b->to_link.holding, true);
	atomic_store(&b->from_link.small, true);
	atomic_store(&b->from_link.shown, 1);
	wait_until(&b->to_link.sleeping, true);
	b->from_link.interrupt = command_late;
	b->from_link.arg = &l;
	for (l.phase = 0; l.phase < 32; l.phase++) {
		l.lane = lane_create(1, 2);
		l.lane->worker = b->w;
		l.polls = 0;
		atomic_store(&b->from_link.quiet, false);
		eventfd_write(b->from_link.fd, 1);
		atomic_store(&b->from_link.interrupts, true);
		expect(b, EVENT_LANE_GONE, NULL);
		lane_destroy(l.lane);
	}
	drop_all(b);
	expect(b, EVENT_HALF_GONE, b->from);
	expect(b, EVENT_HALF_GONE, b->to);
	expect(b, EVENT_LANE_GONE, NULL);
	halt(b);
}

/* Memory of another worker comes free without a sign. Stalled sources must be looked at even while this worker's thread
 * does not sleep, whatever keeps it from sleep. */
static void stalled_source_goes_on_without_sleep(void **state)
{
	struct bench b;
	(void)state;
	start_polling(&b, INT64_C(3600) * 1000000000);
	atomic_store(&b.to_link.refusing, true);
	atomic_store(&b.from_link.small, true);
	atomic_fetch_add(&b.budget.used, b.budget.limit);
	atomic_store(&b.from_link.shown, 3000); /* more than its pool has from the start */
	wait_for(&b.from_link.refused, 1);
	atomic_fetch_sub(&b.budget.used, b.budget.limit);
	wait_for(&b.from_link.taken, 3000);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_a_message),
		cmocka_unit_test(looks_before_it_sleeps),
		cmocka_unit_test(both_wake_their_thread),
		cmocka_unit_test(lane_waits_for_a_write),
		cmocka_unit_test(lane_waits_for_a_read),
		cmocka_unit_test(half_goes_once),
		cmocka_unit_test(full_link_is_armed_again),
		cmocka_unit_test(full_link_is_armed_after_a_flush),
		cmocka_unit_test(full_link_that_cannot_be_watched_is_tried),
		cmocka_unit_test(late_command_is_heard),
		cmocka_unit_test(stalled_source_goes_on_without_sleep),
		cmocka_unit_test(refused_link_is_armed_again),
	};
	return cmocka_run_group_tests_name("zipperd's workers", tests, NULL, NULL);
}
