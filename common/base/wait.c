/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive waiting, see wait.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "common/base/wait.h"

#include <sched.h>
#include <unistd.h>

#include "common/base/clock.h"

/* A spin is a pause instruction and the caller's poll, which can be a system call: 16 spins take 1 to 5 us. A yield is
 * nearly as quick where nobody else is runnable. Where another thread is runnable, perhaps the one that is waited for,
 * every spin holds it up: with 200 spins an 8-byte round trip over TCP on two busy cores took 120 us, with 16 spins 20
 * us. */
#define SPINS 16
/* A yield takes 0.3 us when nobody else is runnable: 100 yields are the next tens of microseconds. When others are
 * runnable each yield is their time slice, and this thread is not in their way. */
#define YIELDS 100
/* From one yield to the next, with the poll between them. Where nobody else is runnable: 0.44 us (99 %: 0.76). Beside
 * another thread that polls and yields on the same core: 1.6 to 2.2 us. A mistake costs a yield instead of a pause. */
#define SHARED_NS 1000
#define SHARED_WAITS 256
/* One in so many yields is timed. A thread that serves others times them (3 % of an 8-byte hop over shm), so that a
 * lost slice is noticed after at most so many yields. A thread that yields at any cost times them to know whether it
 * shares its core. */
#define SHARES_PER_CLOCK 8
/* Time slices are 1 to 4 ms long; the longest turn of a thread that serves connections takes 0.3 ms. */
#define SLICE_NS 500000
/* A sleep costs 5 to 10 us more than a yield: so many sleeps cost as much as one lost slice of 3 ms. */
#define CROWDED_FIRST 256
#define CROWDED_LAST 16384
/* A wait that takes longer is a long one: all its yields (44 us) were in vain, and so would be several times as many.
 * The limit is not lower, so that threads which wait for each other in turns, and all sleep, notice that yields would
 * do: each of them costs the others some tens of microseconds then. */
#define LONG_NS 300000
#define LONGS 16 /* after so many long waits in a row there are no yields */
/* One wait in so many yields all the same; more often at first, as a sleeper may be woken late. */
#define LONGS_PROBE 512
#define LONGS_PER_CLOCK 4  /* one in so many of those waits is timed, as each look at the clock delays an answer */
#define UNTIMED 1	   /* stands in place of the time at which the sleep began */
#define QUICK_YIELDS 20000 /* after so many waits in a row the machine counts as quiet again */

void zwait_init(struct zwait *w, bool busy)
{
	w->spins = busy ? 0 : SPINS;
	w->yields = YIELDS;
	w->idle = 0;
	w->shared = 0;
	w->shares = 0;
	w->slice_ns = SLICE_NS;
	w->crowded = 0;
	w->penalty = CROWDED_FIRST / 2;
	w->quick = 0;
	w->yielded_ns = 0;
	w->slept_ns = 0;
	w->longs = 0;
}

void zwait_learn(struct zwait *w)
{
	const bool was_long = w->slept_ns == UNTIMED || zclock_ns() - w->slept_ns >= LONG_NS;
	w->slept_ns = 0;
	w->longs = was_long ? w->longs + 1 : 0;
}

/* A probe takes the core for all its yields from others who work, other virtual machines perhaps. So the longer the
 * long waits go on, the rarer the probes become, by half each time. */
static bool probes(uint32_t longs)
{
	return (longs & (longs - 1)) == 0 || longs % LONGS_PROBE == 0;
}

/* A thread that yields at any cost is not woken by what it waits for. */
static bool leaves_out_yields(const struct zwait *w)
{
	return w->longs >= LONGS && !probes(w->longs) && w->slice_ns != UINT32_MAX;
}

static void timed_yield(struct zwait *w)
{
	/* From yield to yield, with the poll between them, which is short: a look at the clock costs as much as the
	 * poll. */
	int64_t start = w->yielded_ns ? w->yielded_ns : zclock_ns();
	sched_yield();
	w->yielded_ns = zclock_ns();
	int64_t took = w->yielded_ns - start;
	if (took > SHARED_NS)
		w->shared = SHARED_WAITS;
	if (took < w->slice_ns || w->slice_ns == UINT32_MAX) {
		w->quick++;
		return;
	}
	if (w->quick > QUICK_YIELDS)
		w->penalty = CROWDED_FIRST;
	else if (w->penalty < CROWDED_LAST)
		w->penalty *= 2;
	w->crowded = w->penalty;
	w->quick = 0;
}

/* One of many yields is timed. */
static void sampled_yield(struct zwait *w)
{
	if (++w->shares % SHARES_PER_CLOCK == 0)
		timed_yield(w);
	else
		sched_yield();
	w->yielded_ns = 0;
}

void zwait_share(struct zwait *w)
{
	/* A thread that sleeps at once leaves the core to others that way. */
	if (w->shared > 0 && w->crowded == 0 && !leaves_out_yields(w))
		sampled_yield(w);
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

bool zwait_step(struct zwait *w)
{
	if (w->idle < w->spins) {
		w->idle++;
		cpu_relax();
		return false;
	}
	if (w->crowded == 0 && w->idle - w->spins < w->yields && !leaves_out_yields(w)) {
		w->idle++;
		if (w->slice_ns == UINT32_MAX && w->spins == 0)
			sampled_yield(w); /* it can only find somebody beside us */
		else
			timed_yield(w);
		return false;
	}
	w->crowded -= w->crowded > 0;
	w->yielded_ns = 0; /* the caller sleeps */
	if (w->slept_ns == 0)
		w->slept_ns = leaves_out_yields(w) && w->longs % LONGS_PER_CLOCK != 0 ? UNTIMED : zclock_ns();
	return true;
}

int zwait_cores(void)
{
	/* The kernel's mask can be larger than cpu_set_t on large machines (EINVAL). Then larger sets are tried. */
	for (int cpus = CPU_SETSIZE; cpus <= 1 << 20; cpus *= 4) {
		cpu_set_t *set = CPU_ALLOC(cpus);
		size_t bytes = CPU_ALLOC_SIZE(cpus);
		if (!set)
			break;
		int rc = sched_getaffinity(0, bytes, set);
		int n = rc == 0 ? CPU_COUNT_S(bytes, set) : 0;
		CPU_FREE(set);
		if (rc == 0)
			return n > 0 ? n : 1;
	}
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (int)n : 1;
}
