/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a worker's thread: rounds of polling, forwarding and flushing, and sleep in between. Where there are few
 * cores the two workers of a pair of fabrics share a thread and take turns. They do not know the difference.
 */
#ifndef ZIPPERD_THREAD_H
#define ZIPPERD_THREAD_H

#include <pthread.h>

#include "common/base/wait.h"
#include "zipperd/lane/worker.h"

struct worker_thread {
	struct worker *worker[2];
	int count;
	struct zwait wait;
	int64_t poll_ns;  /* after its last work it looks on for so long without sleeping; 0: as wait says */
	int64_t quiet_ns; /* the time since which it has had no work; 0: not known yet */
	pthread_t thread;
	bool started;
	char name[16]; /* "lgm>das4", or "lgm<>das4" for both directions, with ".1" for the second pair; cut */
};

/* For pthread_create(3): runs until all its workers have got CMD_STOP. arg: struct worker_thread. */
void *thread_run(void *arg);

#endif
