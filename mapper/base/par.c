/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel loop. Threads live for one call; an atomic counter hands out the items. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "mapper/base/par.h"

struct loop {
	par_fn *fn;
	void *arg;
	size_t items;
	atomic_size_t next;
};

struct worker {
	struct loop *loop;
	unsigned id;
	pthread_t thread;
};

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct loop *l = w->loop;

	for (;;) {
		size_t item = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);

		if (item >= l->items)
			return NULL;
		l->fn(l->arg, item, w->id);
	}
}

void par_run(unsigned threads, size_t items, par_fn *fn, void *arg)
{
	struct loop l = {.fn = fn, .arg = arg, .items = items};
	struct worker w[PAR_THREADS_MAX];
	unsigned started = 0;

	if (threads > PAR_THREADS_MAX)
		threads = PAR_THREADS_MAX;
	w[0] = (struct worker){.loop = &l};
	for (unsigned i = 1; i < threads && i < items; i++) {
		w[i] = (struct worker){.loop = &l, .id = i};
		if (pthread_create(&w[i].thread, NULL, worker_run, &w[i]))
			break;
		started = i;
	}
	worker_run(&w[0]);
	for (unsigned i = 1; i <= started; i++)
		pthread_join(w[i].thread, NULL);
}

unsigned par_threads(void)
{
	cpu_set_t set;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > PAR_THREADS_MAX ? PAR_THREADS_MAX : (unsigned)n;
}
