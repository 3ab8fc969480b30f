/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that every wrapper looks at first, and the lock of MPI_THREAD_MULTIPLE. */
#include "shim.h"

#include <pthread.h>

__thread int zshim_depth __attribute__((tls_model("initial-exec")));
__thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
bool zshim_active;
unsigned zshim_hooks;
bool zshim_threaded;

/* A ticket lock that sleeps: a plain mutex goes back to the thread that has just released it, and a wait loop would
 * keep everybody else out. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned next, serving;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void take_turn(void)
{
	unsigned ticket = gate.next++;

	while (gate.serving != ticket)
		pthread_cond_wait(&gate.changed, &gate.mutex);
}

static void end_turn(void)
{
	gate.serving++;
	if (gate.serving != gate.next)
		pthread_cond_broadcast(&gate.changed);
}

void zshim_lock(void)
{
	pthread_mutex_lock(&gate.mutex);
	take_turn();
	pthread_mutex_unlock(&gate.mutex);
}

void zshim_unlock(void)
{
	pthread_mutex_lock(&gate.mutex);
	end_turn();
	pthread_mutex_unlock(&gate.mutex);
}

void zshim_lock_pass(void)
{
	pthread_mutex_lock(&gate.mutex);
	if (gate.next != gate.serving + 1) {
		end_turn();
		take_turn();
	}
	pthread_mutex_unlock(&gate.mutex);
}
