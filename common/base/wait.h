/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adaptive waiting: spin a little, then yield, then sleep. One struct per waiting thread.
 *
 * Measured on two cores (three processes, 64-byte relay, one-way medians): all spinning 30 ms, yielding 8 us,
 * sleeping on a descriptor 14 us. So nothing may spin alone for long, whatever the number of cores. Who else is there
 * cannot be known beforehand (ranks of other clusters, other jobs), but a yield tells: one that lets somebody else run
 * takes four times as long as one that does not. And where all that is waited for takes far longer than the yields do,
 * as in virtual machines and over long ways, they are in the way of those who work, and left out.
 */
#ifndef ZIP_COMMON_BASE_WAIT_H
#define ZIP_COMMON_BASE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct zwait {
	uint32_t spins;	 /* idle polls before yielding; 0 when there are more runnable threads than cores */
	uint32_t yields; /* idle polls with sched_yield before sleeping is advised */
	uint32_t idle;	 /* idle polls in a row */
	/* A yield that takes longer was somebody's time slice: then the next waits go to sleep without yielding,
	 * because a sleeper that is woken comes before those who compute. UINT32_MAX: yields whatever they cost. */
	uint32_t slice_ns;
	uint32_t crowded;   /* that many waits more */
	uint32_t penalty;   /* as many as it were last time; grows while it happens again and again */
	uint32_t quick;	    /* yields since then that were none */
	uint32_t shared;    /* somebody else wants this core: that many waits more are without spinning */
	uint32_t shares;    /* yields of which only some are timed */
	int64_t yielded_ns; /* when the last yield in a row ended; 0: the next one is the first */
	int64_t slept_ns;   /* since when it has been sleeping; 0: it has not; 1: it has, and nobody asks how long */
	uint32_t longs;	    /* waits in a row that were longer than yields can be */
};

/* busy: more runnable threads than cores are to be expected (then no spinning at all). */
void zwait_init(struct zwait *, bool busy);
/* After a wait that ended in sleep. */
void zwait_learn(struct zwait *);
/* What is waited for has come, and nothing more is to be waited for now. */
static inline void zwait_end(struct zwait *w)
{
	if (__builtin_expect(w->slept_ns != 0, 0))
		zwait_learn(w);
	else if (w->idle > w->spins)
		w->longs = 0; /* yields do */
	w->idle = 0;
}
/* After a poll that did something. */
static inline void zwait_reset(struct zwait *w)
{
	zwait_end(w);
	w->idle = w->shared ? w->spins : 0;
	w->shared -= w->shared > 0;
	w->yielded_ns = 0;
}
/* After a poll that did nothing: pauses or yields. Returns true when the caller should sleep on its descriptors now
 * (after arming them); it keeps returning true until reset. */
bool zwait_step(struct zwait *);
/* After zwait_reset, for who serves others or waits for them: where they want this core they go first, as there is
 * nothing for us before they had it. */
void zwait_share(struct zwait *);
/* Cores this process may use (affinity mask, not the machine's count). */
int zwait_cores(void);

#endif
