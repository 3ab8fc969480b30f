/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that every wrapper looks at first, and the locks of MPI_THREAD_MULTIPLE. See shim.h. */
#include "libzip/shim/shim.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "libzip/shim/station.h"

__thread int zshim_depth __attribute__((tls_model("initial-exec")));
__thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
__thread int zshim_at __attribute__((tls_model("initial-exec")));
bool zshim_active;
unsigned zshim_hooks;
bool zshim_threaded;

/* The lock goes first come, first served, with one exception: so many times in a row a thread that is awake goes
 * before sleepers. A thread makes several calls in the time that it takes to wake another. A plain mutex has no such
 * limit, and a wait loop would keep all other threads out. */
#define BARGES 16
#define CACHE_LINES 128 /* processors fetch adjacent cache lines in pairs */

/* A gate for each station. A thread that wants all gates takes them in order. A thread with a single gate that is not
 * the first takes no other. */
static struct gate {
	alignas(CACHE_LINES) pthread_mutex_t mutex;
	bool held;
	int barged; /* times in a row that a thread went before the first sleeper */
	struct zshim_sleeper *first, *last;
	atomic_int waiting; /* threads in the line; read without the mutex */
} gates[ZSTATIONS_MAX] = {[0 ... ZSTATIONS_MAX - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}};

/* The caller has the mutex. */

static void line_up(struct gate *g, struct zshim_sleeper *s)
{
	if (g->first)
		g->last->next = s;
	else
		g->first = s;
	g->last = s;
	atomic_fetch_add_explicit(&g->waiting, 1, memory_order_relaxed);
}

static struct zshim_sleeper *let_in_first(struct gate *g)
{
	struct zshim_sleeper *s = g->first;
	g->first = s->next;
	g->barged = 0;
	g->held = true;
	s->in = true;
	atomic_fetch_sub_explicit(&g->waiting, 1, memory_order_relaxed);
	return s;
}

static void await_turn(struct gate *g, struct zshim_sleeper *s)
{
	while (!s->in) {
		pthread_cond_wait(&s->changed, &g->mutex);
		if (!s->in && !g->held && g->first == s)
			let_in_first(g);
	}
}

static void let_go(struct gate *g)
{
	g->held = false;
	if (g->first)
		pthread_cond_signal(g->barged < BARGES ? &g->first->changed : &let_in_first(g)->changed);
}

/* The caller does not have the mutex. */

static void lock(struct gate *g)
{
	pthread_mutex_lock(&g->mutex);
	if (!g->held && g->barged < BARGES) {
		g->held = true;
		g->barged += g->first != NULL;
	} else {
		struct zshim_sleeper me = ZSHIM_SLEEPER;
		line_up(g, &me);
		await_turn(g, &me);
	}
	pthread_mutex_unlock(&g->mutex);
}

static void unlock(struct gate *g)
{
	pthread_mutex_lock(&g->mutex);
	let_go(g);
	pthread_mutex_unlock(&g->mutex);
}

static void pass(struct gate *g)
{
	pthread_mutex_lock(&g->mutex);
	if (g->first) {
		struct zshim_sleeper me = ZSHIM_SLEEPER;
		line_up(g, &me);
		pthread_cond_signal(&let_in_first(g)->changed);
		await_turn(g, &me);
	}
	pthread_mutex_unlock(&g->mutex);
}

static bool is_wanted(const struct gate *g)
{
	return atomic_load_explicit(&g->waiting, memory_order_relaxed) > 0;
}

static void lock_others(void)
{
	for (int e = 1; e < zstation_n; e++)
		lock(&gates[e]);
}

static void unlock_others(int but)
{
	for (int e = zstation_n; e-- > 1;)
		if (e != but)
			unlock(&gates[e]);
}

void zshim_lock(void)
{
	lock(&gates[0]);
	lock_others();
}

void zshim_lock_at(int station)
{
	lock(&gates[station]);
	zshim_at = station;
}

void zshim_unlock(void)
{
	int at = zshim_at;

	zshim_at = 0;
	if (at == 0)
		unlock_others(0);
	unlock(&gates[at]);
}

void zshim_narrow(int station)
{
	unlock_others(station);
	unlock(&gates[0]);
	zshim_at = station;
}

void zshim_lock_pass(void)
{
	if (zshim_at != 0) {
		if (is_wanted(&gates[zshim_at]))
			pass(&gates[zshim_at]);
		return;
	}
	for (int e = 1; e < zstation_n; e++)
		if (is_wanted(&gates[e]))
			pass(&gates[e]);
	/* A thread that is let in at the first gate wants the others, too. */
	if (is_wanted(&gates[0])) {
		unlock_others(0);
		pass(&gates[0]);
		lock_others();
	}
}

/* Sleepers wait for the first gate and then take the others. So a woken thread stands in line before it has any gate.
 */
void zshim_sleep(struct zshim_sleeper *me)
{
	struct gate *g = &gates[0];

	unlock_others(0);
	pthread_mutex_lock(&g->mutex);
	let_go(g);
	await_turn(g, me);
	pthread_mutex_unlock(&g->mutex);
	lock_others();
}

void zshim_wake(struct zshim_sleeper *s)
{
	pthread_mutex_lock(&gates[0].mutex);
	line_up(&gates[0], s);
	pthread_mutex_unlock(&gates[0].mutex);
}
