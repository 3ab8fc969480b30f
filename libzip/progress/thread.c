/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread: one more caller of the wait loop, which sleeps when there is nothing to do. */
#include "libzip/progress/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libzip/bridge/bridge.h"
#include "libzip/shim/shim.h"
#include "libzip/progress/waiters.h"
#include "libzip/progress/progress.h"

static pthread_t thread;
static bool running;
static atomic_bool stopping;

static bool is_stopping(void *ctx)
{
	(void)ctx;
	return atomic_load_explicit(&stopping, memory_order_relaxed);
}

static void *run(void *arg)
{
	zshim_enter();
	zprogress_wait(is_stopping, NULL);
	zshim_leave();
	return arg;
}

int zthread_start(void)
{
	sigset_t all, before;

	atomic_store(&stopping, false);
	/* The application's signal handlers are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	running = rc == 0;
	return -rc;
}

void zthread_stop(void)
{
	if (!running)
		return;
	atomic_store(&stopping, true);
	zwaiters_disturbed();
	zshim_block_begin();
	pthread_join(thread, NULL);
	zshim_block_end();
	running = false;
}
