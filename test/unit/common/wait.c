/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive waiting: the phases come in order, end, and begin again after work; cores follow the affinity mask. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/within.h"
#include "common/base/wait.h"

static unsigned steps_until_sleep(struct zwait *w)
{
	unsigned n = 0;
	while (!zwait_step(w))
		assert_true(++n < 1000000);
	return n;
}

static void advises_sleep_after_spins_and_yields(void **state)
{
	(void)state;
	struct zwait w;
	zwait_init(&w, false);
	w.slice_ns = UINT32_MAX; /* whatever else runs here */
	assert_true(w.spins > 0);
	assert_true(w.yields > 0);
	assert_int_equal(steps_until_sleep(&w), w.spins + w.yields);
	for (int i = 0; i < 10; i++)
		assert_true(zwait_step(&w));
	w.shared = 0;
	zwait_reset(&w);
	assert_int_equal(steps_until_sleep(&w), w.spins + w.yields);
}

/* Another process on the only core, which also polls and yields, until the test ends. */
struct another {
	cpu_set_t old;
	int until;
	pid_t pid;
};

static void another_begin(struct another *a)
{
	cpu_set_t one;
	int cpu = 0, none[2];
	char byte;
	assert_int_equal(sched_getaffinity(0, sizeof(a->old), &a->old), 0);
	while (!CPU_ISSET(cpu, &a->old))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(pipe2(none, O_NONBLOCK), 0);
	a->pid = fork();
	for (int polls = 0; a->pid == 0; polls++) {
		if (read(none[0], &byte, 1) == 0)
			_exit(0);
		if (polls % 10 == 0)
			sched_yield();
		if (polls == 0)
			close(none[1]);
	}
	close(none[0]);
	a->until = none[1];
}

static void another_end(struct another *a)
{
	int status;
	close(a->until);
	assert_true(waitpid(a->pid, &status, 0) == a->pid);
	assert_int_equal(sched_setaffinity(0, sizeof(a->old), &a->old), 0);
}

static void wait_until_shared(struct zwait *w, bool busy)
{
	zwait_init(w, busy);
	w->slice_ns = UINT32_MAX;
	for (int waits = 0; w->shared == 0; waits++) {
		assert_true(waits < 100000);
		zwait_reset(w);
		steps_until_sleep(w);
	}
}

/* Spinning would hold the other process up. For so many waits. */
static void does_not_spin_beside_another(void **state)
{
	(void)state;
	struct zwait w;
	struct another a;
	another_begin(&a);
	wait_until_shared(&w, true); /* it spins in no case, but its caller may ask */
	wait_until_shared(&w, false);
	another_end(&a);
	w.shared = 2;
	for (int i = 0; i < 3; i++) {
		zwait_reset(&w);
		uint32_t left = w.shared;
		assert_int_equal(steps_until_sleep(&w), i < 2 ? w.yields : w.spins + w.yields);
		w.shared = left; /* whatever else runs here */
	}
}

static void never_spins_on_a_busy_machine(void **state)
{
	(void)state;
	struct zwait w;
	zwait_init(&w, true);
	w.slice_ns = UINT32_MAX;
	assert_int_equal(w.spins, 0);
	assert_int_equal(steps_until_sleep(&w), w.yields);
}

static void follows_fields_that_were_set(void **state)
{
	(void)state;
	struct zwait w;
	zwait_init(&w, false);
	w.slice_ns = UINT32_MAX; /* whatever else runs here */
	w.spins = 0;
	w.yields = 0;
	assert_true(zwait_step(&w));
	w.yields = 3;
	assert_int_equal(steps_until_sleep(&w), 3);
}

/* A yield that was somebody's time slice: no more yields for a while, longer when it happens again. */
static void sleeps_at_once_on_a_crowded_machine(void **state)
{
	(void)state;
	struct zwait w;
	unsigned waits[2];
	zwait_init(&w, true);
	for (int i = 0; i < 2; i++) {
		w.slice_ns = 0; /* every yield is one */
		assert_int_equal(steps_until_sleep(&w), 1);
		w.slice_ns = UINT32_MAX;
		for (waits[i] = 0; w.crowded > 0; waits[i]++) {
			zwait_reset(&w);
			assert_int_equal(steps_until_sleep(&w), 0);
		}
		assert_true(waits[i] > 10);
		zwait_reset(&w);
		assert_int_equal(steps_until_sleep(&w), w.yields);
		zwait_reset(&w);
	}
	assert_true(waits[1] > waits[0]);
}

/* The number of polls until it sleeps, for so long. */
static unsigned sleep_for(struct zwait *w, useconds_t us)
{
	w->shared = 0; /* whatever else runs here */
	zwait_reset(w);
	const unsigned n = steps_until_sleep(w);
	if (us > 0)
		usleep(us);
	zwait_end(w);
	return n;
}

/* Where all waits take longer than any yields there are no yields, with an exception now and then. */
static void leaves_out_yields_that_are_for_nothing(void **state)
{
	(void)state;
	struct zwait w;
	zwait_init(&w, false);
	w.slice_ns = UINT32_MAX - 1; /* whatever else runs here */
	for (int again = 0; again < 2; again++) {
		unsigned waits = 0, probes = 0;
		while (sleep_for(&w, 400) > w.spins)
			assert_true(++waits < 40);
		assert_true(waits >= 10);
		for (int i = 0; i < 64; i++)
			probes += sleep_for(&w, 400) == w.spins + w.yields;
		assert_within(probes, 1, 3);
		w.longs = 130; /* they are rarer the longer it goes on */
		probes = 0;
		for (int i = 0; i < 300; i++)
			probes += sleep_for(&w, 400) == w.spins + w.yields;
		assert_int_equal(probes, 1);
		while (w.longs > 0) /* a short wait, unless somebody took our core for it */
			sleep_for(&w, 0);
		assert_int_equal(sleep_for(&w, 400), w.spins + w.yields);
	}
}

/* So does a yield that has met another thread, but not one that ended at once. */
static void yields_where_yields_do(void **state)
{
	(void)state;
	struct zwait w;
	zwait_init(&w, false);
	w.slice_ns = UINT32_MAX - 1;
	w.longs = 32; /* the next wait has yields */
	assert_false(zwait_step(&w));
	zwait_reset(&w);
	assert_int_equal(w.longs, 32);
	for (uint32_t i = 0; i <= w.spins; i++)
		assert_false(zwait_step(&w));
	zwait_reset(&w);
	assert_int_equal(w.longs, 0);
	w.longs = 33;
	w.shared = 0;
	zwait_reset(&w);
	assert_int_equal(steps_until_sleep(&w), w.spins);
	w.slice_ns = UINT32_MAX; /* nobody would wake it */
	w.longs = 33;
	w.slept_ns = 0;
	w.idle = 0;
	assert_int_equal(steps_until_sleep(&w), w.spins + w.yields);
}

/* A thread that serves others yields between two pieces of work only where another thread wants the core, and notices
 * what that costs. */
static void shares_its_core_until_it_loses_slices(void **state)
{
	(void)state;
	struct zwait w;
	zwait_init(&w, false);
	zwait_share(&w);
	assert_int_equal(w.shares, 0);
	w.shared = 1;
	w.slice_ns = 0; /* every timed yield is one */
	for (int i = 0; i < 100; i++)
		zwait_share(&w);
	assert_true(w.crowded > 0);
	assert_within(w.shares, 1, 99);
}

static void counts_only_cores_it_may_use(void **state)
{
	(void)state;
	int all = zwait_cores();
	assert_true(all >= 1);
	cpu_set_t set;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(all, CPU_COUNT(&set));
	pid_t pid = fork();
	if (pid == 0) {
		int cpu = 0;
		while (!CPU_ISSET(cpu, &set))
			cpu++;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		_exit(sched_setaffinity(0, sizeof(set), &set) == 0 ? zwait_cores() : 99);
	}
	int status;
	assert_true(waitpid(pid, &status, 0) == pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advises_sleep_after_spins_and_yields),
		cmocka_unit_test(does_not_spin_beside_another),
		cmocka_unit_test(never_spins_on_a_busy_machine),
		cmocka_unit_test(follows_fields_that_were_set),
		cmocka_unit_test(sleeps_at_once_on_a_crowded_machine),
		cmocka_unit_test(shares_its_core_until_it_loses_slices),
		cmocka_unit_test(leaves_out_yields_that_are_for_nothing),
		cmocka_unit_test(yields_where_yields_do),
		cmocka_unit_test(counts_only_cores_it_may_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
