/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into *native* reference runs: makes MPICH's wait loops yield after some idle polls. MPICH over UCX spins,
 * and with more ranks than cores every operation then costs a time slice (a barrier of four ranks on two cores takes 8
 * ms, and 6 us with this).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

#define IDLE_POLLS 20 /* a message of another core arrives within a few polls; more only burns the time slice */

unsigned ucp_worker_progress(void *worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	static __thread unsigned idle;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
	unsigned events = real(worker);
	if (events)
		idle = 0;
	else if (++idle > IDLE_POLLS)
		sched_yield();
	return events;
}
