/* SPDX-License-Identifier: BSD-3-Clause */
/* The context's thread: turn after turn it executes commands, polls links, runs groups, and waits when all is idle. */
#ifndef ZIPCAST_THREAD_H
#define ZIPCAST_THREAD_H

/* Returns when the context was stopped and the other nodes have been told, or 2 s after the stop. For pthread_create.
 */
void *zthread_run(void *zipcast);

#endif
