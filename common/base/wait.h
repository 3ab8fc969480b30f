/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adaptive waiting: spin a little, then yield, then sleep. Each waiting thread has a struct zwait of its own.
 *
 * Measured on two cores (three processes, 64-byte relay, one-way medians): spinning takes 30 ms, yielding 8 us,
 * sleeping on a descriptor 14 us. So no thread may spin for long, whatever the number of cores. Nobody knows beforehand
 * who else runs (ranks of other clusters, other jobs), but a yield tells: a yield that lets another thread run takes
 * four times as long as one that does not. Where waits take far longer than the yields do, as in virtual machines and
 * over long distances, yields hinder the threads that work, and are left out.
 */
#ifndef ZIP_COMMON_BASE_WAIT_H
#define ZIP_COMMON_BASE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct zwait {
	uint32_t spins;	 /* idle polls before yielding; 0 when there are more runnable threads than cores */
	uint32_t yields; /* idle polls with sched_yield before sleeping is advised */
	uint32_t idle;	 /* idle polls in a row */
	/* A yield that takes longer was somebody's time slice. Then the next waits go to sleep without yielding,
	 * because a sleeper that is woken comes before threads that compute. UINT32_MAX: yields whatever they cost. */
	uint32_t slice_ns;
	uint32_t crowded;   /* the number of further waits that do so */
	uint32_t penalty;   /* the value of `crowded` at the last time; grows while it happens again and again */
	uint32_t quick;	    /* yields since then that let nobody else run */
	uint32_t shared;    /* another thread wants this core: the number of further waits without spinning */
	uint32_t shares;    /* yields, of which only some are timed */
	int64_t yielded_ns; /* when the last yield in a row ended; 0: the next yield is the first */
	int64_t slept_ns; /* when the sleep began; 0: there was none; 1: there was one, and nobody asks how long it took
			   */
	uint32_t longs;	  /* waits in a row that took longer than yields can */
};

/* busy: more runnable threads than cores are expected; then the thread does not spin at all. */
void zwait_init(struct zwait *, bool busy);
/* To be called after a wait that ended in sleep. */
void zwait_learn(struct zwait *);
/* The wait is over, and the thread waits for nothing else now. */
static inline void zwait_end(struct zwait *w)
{
	if (__builtin_expect(w->slept_ns != 0, 0))
		zwait_learn(w);
	else if (w->idle > w->spins)
		w->longs = 0; /* yields are enough */
	w->idle = 0;
}
/* To be called after a poll that did something. */
static inline void zwait_reset(struct zwait *w)
{
	zwait_end(w);
	w->idle = w->shared ? w->spins : 0;
	w->shared -= w->shared > 0;
	w->yielded_ns = 0;
}
/* To be called after a poll that did nothing: pauses or yields. Returns true when the caller should sleep on its
 * descriptors now (after arming them), and goes on returning true until zwait_reset. */
bool zwait_step(struct zwait *);
/* To be called after zwait_reset by a thread that serves other threads or waits for them. Where they want this core
 * they go first, as this thread has nothing to do before they have run. */
void zwait_share(struct zwait *);
/* The number of cores that this process may use (its affinity mask, not the machine's count). */
int zwait_cores(void);

#endif
