/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that every wrapper looks at first, and the lock of MPI_THREAD_MULTIPLE. */
#include "shim.h"

#include <pthread.h>

__thread int zshim_depth __attribute__((tls_model("initial-exec")));
__thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
bool zshim_active;
unsigned zshim_hooks;
bool zshim_threaded;

/* First come, first served, but that who has it not asleep goes before those who have to be woken, so often in a row: a
 * thread makes several calls in the time that it takes to wake another. A plain mutex has no such limit, and a wait
 * loop would keep everybody else out. */
#define BARGES 16

static struct {
	pthread_mutex_t mutex;
	bool held;
	int barged; /* times that somebody went before the first one */
	struct zshim_sleeper *first, **end;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .end = &gate.first};

/* The rest has the mutex. */

static void line_up(struct zshim_sleeper *s)
{
	*gate.end = s;
	gate.end = &s->next;
}

static struct zshim_sleeper *let_in_first(void)
{
	struct zshim_sleeper *s = gate.first;
	gate.first = s->next;
	if (!gate.first)
		gate.end = &gate.first;
	gate.barged = 0;
	gate.held = true;
	s->in = true;
	return s;
}

static void await_turn(struct zshim_sleeper *s)
{
	while (!s->in) {
		pthread_cond_wait(&s->changed, &gate.mutex);
		if (!s->in && !gate.held && gate.first == s)
			let_in_first();
	}
}

static void let_go(void)
{
	gate.held = false;
	if (gate.first)
		pthread_cond_signal(gate.barged < BARGES ? &gate.first->changed : &let_in_first()->changed);
}

void zshim_lock(void)
{
	pthread_mutex_lock(&gate.mutex);
	if (!gate.held && gate.barged < BARGES) {
		gate.held = true;
		gate.barged += gate.first != NULL;
	} else {
		struct zshim_sleeper me = ZSHIM_SLEEPER;
		line_up(&me);
		await_turn(&me);
	}
	pthread_mutex_unlock(&gate.mutex);
}

void zshim_unlock(void)
{
	pthread_mutex_lock(&gate.mutex);
	let_go();
	pthread_mutex_unlock(&gate.mutex);
}

void zshim_lock_pass(void)
{
	pthread_mutex_lock(&gate.mutex);
	if (gate.first) {
		struct zshim_sleeper me = ZSHIM_SLEEPER;
		line_up(&me);
		pthread_cond_signal(&let_in_first()->changed);
		await_turn(&me);
	}
	pthread_mutex_unlock(&gate.mutex);
}

void zshim_sleep(struct zshim_sleeper *me)
{
	pthread_mutex_lock(&gate.mutex);
	let_go();
	await_turn(me);
	pthread_mutex_unlock(&gate.mutex);
}

void zshim_wake(struct zshim_sleeper *s)
{
	pthread_mutex_lock(&gate.mutex);
	line_up(s);
	pthread_mutex_unlock(&gate.mutex);
}
