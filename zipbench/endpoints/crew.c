/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that begin together, see crew.h. */
#include "zipbench/endpoints/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "zipbench/base/bench.h"

struct gate { /* opens when all threads have come, or one could not be created */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;
	int open; /* 0: shut; 1: begin; -1: go home */
};

struct member {
	struct gate *gate;
	int (*work)(void *ctx, unsigned t);
	void *ctx;
	unsigned t;
	bool bind;
	int rc;
	double end;
	pthread_t thread;
};

static int cores(cpu_set_t *set)
{
	return sched_getaffinity(0, sizeof(*set), set) == 0 ? CPU_COUNT(set) : 1;
}

bool crew_is_crowded(unsigned threads)
{
	cpu_set_t set;
	return threads > (unsigned)cores(&set);
}

static void bind_to(unsigned nth)
{
	cpu_set_t all, one;
	cores(&all);
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &all) && nth-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(c, &one);
			pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
			return;
		}
}

static void *begin(void *arg)
{
	struct member *m = arg;
	int open;
	if (m->bind)
		bind_to(m->t);
	pthread_mutex_lock(&m->gate->lock);
	m->gate->waiting++;
	pthread_cond_broadcast(&m->gate->changed);
	while (m->gate->open == 0)
		pthread_cond_wait(&m->gate->changed, &m->gate->lock);
	open = m->gate->open;
	pthread_mutex_unlock(&m->gate->lock);
	m->rc = open == 1 ? m->work(m->ctx, m->t) : 0;
	m->end = bench_now();
	return NULL;
}

/* Waits for n threads and opens the gate. Returns the time when they began. */
static double open_gate(struct gate *g, unsigned n, int how)
{
	pthread_mutex_lock(&g->lock);
	while (g->waiting < n)
		pthread_cond_wait(&g->changed, &g->lock);
	double start = bench_now();
	g->open = how;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
	return start;
}

int crew_run(unsigned n, int (*work)(void *ctx, unsigned t), void *ctx, double *seconds, struct zerr *err)
{
	struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
	struct member *m = calloc(n, sizeof(*m));
	unsigned made = 0;
	int rc = 0;
	if (!m)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (; made < n && rc == 0; made += rc == 0) {
		m[made] = (struct member){.gate = &gate,
			.work = work,
			.ctx = ctx,
			.t = made,
			.bind = !crew_is_crowded(n)};
		rc = -pthread_create(&m[made].thread, NULL, begin, &m[made]);
	}
	if (rc < 0)
		zerr_set(err, rc, "cannot start thread %u: %s", made, strerror(-rc));
	double start = open_gate(&gate, made, rc == 0 ? 1 : -1), end = start;
	for (unsigned t = 0; t < made; t++) {
		pthread_join(m[t].thread, NULL);
		end = m[t].end > end ? m[t].end : end;
		rc = rc == 0 ? m[t].rc : rc;
	}
	*seconds = end - start;
	free(m);
	return rc;
}
