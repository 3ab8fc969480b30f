/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait in MPI at the same time, and the lock: with an engine that only delivers tokens that threads send
 * to each other, one a turn, and with sleepers that only other threads wake. So a call that is lost is a test that does
 * not end (it is killed by the alarm).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "libzip/shim/shim.h"
#include "libzip/progress/waiters.h"

#define THREADS 12
#define ROUNDS 400
#define IDLE_TURNS 3
#define SECONDS_MAX 120

struct mailbox {
	int sent, delivered, taken;
};

/* All of it under the lock. */
static struct {
	struct mailbox box[THREADS];
	int leaders, inside;
	int turns_of_others; /* that woke somebody whose thread did not lead */
	bool stop;
} it;

static __thread bool leads;

static int setup(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	zshim_threaded = true;
	alarm(SECONDS_MAX);
	return zwaiters_init();
}

static int teardown(void **state)
{
	(void)state;
	zwaiters_fini();
	zshim_threaded = false;
	alarm(0);
	return 0;
}

/* One token. */
static bool turn(void)
{
	bool did = false;
	assert_int_equal(it.inside++, 0);
	for (int i = 0; i < THREADS && !did; i++)
		if (it.box[i].delivered < it.box[i].sent) {
			it.box[i].delivered++;
			did = true;
		}
	it.inside--;
	return did;
}

static bool has_come(void *ctx)
{
	const struct mailbox *box = ctx;
	return box->taken < box->delivered;
}

static bool is_stopping(void *ctx)
{
	(void)ctx;
	return it.stop;
}

/* True: it did not lead until now. */
static bool lead(void)
{
	if (leads)
		return false;
	assert_int_equal(it.leaders++, 0);
	return leads = true;
}

static void lead_no_more(bool mine)
{
	if (!mine)
		return;
	leads = false;
	it.leaders--;
}

/* As zprogress_wait. */
static void wait_for(bool (*done)(void *ctx), void *ctx)
{
	int idle = 0;
	if (done(ctx))
		return;
	if (zwaiters_join(done, ctx)) {
		it.turns_of_others++;
		return;
	}
	bool mine = lead();
	for (;;) {
		bool did = turn();
		if (done(ctx))
			break;
		zwaiters_serve(did);
		zshim_relax();
		idle = did ? 0 : idle + 1;
		if (idle < IDLE_TURNS)
			continue;
		if (!zwaiters_rest()) {
			sched_yield();
			continue;
		}
		lead_no_more(mine);
		struct pollfd fd = {.fd = zwaiters_fd(), .events = POLLIN};
		zshim_block_begin();
		poll(&fd, 1, -1);
		zshim_block_end();
		if (zwaiters_resume(done, ctx))
			return;
		mine = lead();
	}
	lead_no_more(mine);
	zwaiters_leave();
}

static void take_one(int me)
{
	wait_for(has_come, &it.box[me]);
	assert_true(has_come(&it.box[me]));
	it.box[me].taken++;
}

/* Sleeping threads hear of a sender through the lock, as they watch no descriptor of it. */
static void post(int to)
{
	it.box[to].sent++;
	if (turn())
		zwaiters_disturbed();
}

static void run_all(void *(*run)(void *), int n)
{
	pthread_t threads[THREADS];
	for (intptr_t i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)i), 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* A token goes around in both directions, so that in most of the time nearly all wait. */
static void *pass_on(void *arg)
{
	int me = (int)(intptr_t)arg;
	for (int i = 0; i < ROUNDS; i++) {
		zshim_enter();
		if (me == 0)
			post(1);
		zshim_leave();
		zshim_enter();
		take_one(me);
		if (me != 0)
			post((me + 1) % THREADS);
		zshim_leave();
	}
	return NULL;
}

static void all_wait_for_each_other(void **state)
{
	(void)state;
	/* On a busy machine each thread may find its token there already. */
	for (int again = 0; again == 0 || (again < 20 && it.turns_of_others == 0); again++) {
		run_all(pass_on, THREADS);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(it.box[i].taken, (again + 1) * ROUNDS);
	}
	assert_int_not_equal(it.turns_of_others, 0);
}

/* Pairs, all at the same time. */
static void *play(void *arg)
{
	int me = (int)(intptr_t)arg, peer = me ^ 1;
	for (int i = 0; i < ROUNDS; i++) {
		zshim_enter();
		if (me % 2 == 1)
			take_one(me);
		post(peer);
		zshim_leave();
		zshim_enter();
		if (me % 2 == 0)
			take_one(me);
		zshim_leave();
	}
	return NULL;
}

static void pairs(void **state)
{
	(void)state;
	run_all(play, THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(it.box[i].taken, ROUNDS);
}

/* One sleeps; others make turns and do not wait: it is called, not only when its token comes. */
static void *sleep_for_token(void *arg)
{
	zshim_enter();
	take_one((int)(intptr_t)arg);
	zshim_leave();
	return NULL;
}

static void one_who_tests_calls_who_sleeps(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t sleeper;
		assert_int_equal(pthread_create(&sleeper, NULL, sleep_for_token, (void *)(intptr_t)0), 0);
		if (i % 2)
			usleep(100);
		zshim_enter();
		post(0);
		zshim_leave();
		assert_int_equal(pthread_join(sleeper, NULL), 0);
	}
}

/* A thread that only moves messages, as ZIPPER_PROGRESS=thread has it: it sleeps while others lead, who take what would
 * have woken it, and must go on when they leave. */
static void *move(void *arg)
{
	zshim_enter();
	wait_for(is_stopping, arg);
	zshim_leave();
	return NULL;
}

static bool is_delivered(int to, int tokens)
{
	zshim_enter();
	bool yes = it.box[to].delivered == tokens;
	zshim_leave();
	return yes;
}

static void who_leaves_calls_who_sleeps(void **state)
{
	pthread_t mover;
	(void)state;
	assert_int_equal(pthread_create(&mover, NULL, move, NULL), 0);
	for (int i = 1; i <= ROUNDS; i++) {
		if (i % 2)
			usleep(100);
		zshim_enter();
		it.box[0].sent++; /* delivered first */
		it.box[1].sent++; /* only by the mover, when we have left */
		take_one(0);
		zshim_leave();
		while (!is_delivered(1, i))
			sched_yield();
	}
	zshim_enter();
	it.stop = true;
	zwaiters_disturbed();
	zshim_leave();
	assert_int_equal(pthread_join(mover, NULL), 0);
}

/*
 * A thread that arrives after the leader's turn, with work left to do, is not left behind by a thread that goes to
 * sleep.
 */
static void a_leader_turns_for_who_has_come_before_it_rests(void **state)
{
	pthread_t other;
	(void)state;
	zshim_enter();
	assert_false(zwaiters_join(has_come, &it.box[0]));
	zwaiters_serve(turn());
	assert_int_equal(pthread_create(&other, NULL, sleep_for_token, (void *)(intptr_t)1), 0);
	while (zwaiters_are_none()) {
		zshim_block_begin();
		usleep(100);
		zshim_block_end();
	}
	it.box[1].sent++;
	assert_false(zwaiters_rest());
	zwaiters_serve(turn());
	assert_true(zwaiters_are_none());
	assert_true(zwaiters_rest()); /* but not for ever */
	assert_false(zwaiters_resume(has_come, &it.box[0]));
	zwaiters_leave();
	zshim_leave();
	assert_int_equal(pthread_join(other, NULL), 0);
}

/* Within a turn of the leader, as from a callback; then another thread comes, which is not to lead beside it. */
static bool waits_inside(void *ctx)
{
	static bool inside;
	pthread_t *other = ctx;
	if (leads && !inside && it.box[2].taken == 0) {
		inside = true;
		it.box[2].sent++;
		take_one(2);
		inside = false;
		assert_int_equal(pthread_create(other, NULL, sleep_for_token, (void *)(intptr_t)3), 0);
	}
	if (!zwaiters_are_none() && it.box[3].sent == 0)
		it.box[3].sent++;
	return it.box[2].taken == 1 && it.box[3].taken == 1;
}

static void a_leader_waits_inside(void **state)
{
	pthread_t other;
	(void)state;
	zshim_enter();
	assert_false(zwaiters_join(has_come, &it.box[2]));
	wait_for(waits_inside, &other);
	zwaiters_leave();
	assert_int_equal(it.turns_of_others, 1);
	assert_true(zwaiters_are_none());
	it.box[2].sent++; /* it leads no more: the next one may */
	take_one(2);
	zshim_leave();
	assert_int_equal(pthread_join(other, NULL), 0);
}

/* A thread that wants the lock gets it, whatever others do. */
static void *hammer(void *arg)
{
	bool stop = false;
	(void)arg;
	while (!stop) {
		zshim_enter();
		stop = it.stop;
		zshim_leave();
	}
	return NULL;
}

static void *stop_them(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		zshim_enter();
		it.stop = i == ROUNDS - 1;
		zshim_leave();
	}
	return NULL;
}

static void *hammer_or_stop(void *arg)
{
	return (intptr_t)arg == 0 ? stop_them(arg) : hammer(arg);
}

static void nobody_is_kept_out(void **state)
{
	(void)state;
	run_all(hammer_or_stop, THREADS);
	assert_true(it.stop);
}

/* Holds the lock all the time, except to pass it on. */
static void *hold(void *arg)
{
	(void)arg;
	zshim_enter();
	while (!it.stop)
		zshim_relax();
	zshim_leave();
	return NULL;
}

static void *hold_or_stop(void *arg)
{
	return (intptr_t)arg == 0 ? stop_them(arg) : hold(arg);
}

static void who_passes_it_on_lets_others_in(void **state)
{
	(void)state;
	run_all(hold_or_stop, 3);
	assert_true(it.stop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_wait_for_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(one_who_tests_calls_who_sleeps, setup, teardown),
		cmocka_unit_test_setup_teardown(who_leaves_calls_who_sleeps, setup, teardown),
		cmocka_unit_test_setup_teardown(a_leader_turns_for_who_has_come_before_it_rests, setup, teardown),
		cmocka_unit_test_setup_teardown(a_leader_waits_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_is_kept_out, setup, teardown),
		cmocka_unit_test_setup_teardown(who_passes_it_on_lets_others_in, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
