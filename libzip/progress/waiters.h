/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait in MPI at the same time (MPI_THREAD_MULTIPLE). One of them, the leader, makes turns for all, and
 * asks after every turn for each thread whether it is done. The others sleep until they are done, or until they are to
 * lead. If every thread made turns for itself, the lock would go around all of them for every message, with a switch of
 * threads each: of 16 threads that exchange messages with 16 others, each pair did 190 round trips a second.
 *
 * A thread that sleeps on descriptors does not lead, so that a thread that comes then can begin at once. Turns of other
 * threads may undo what was armed for the sleeper, and may find what it waits for. So the sleeper is called when
 * something was found, when no thread leads any more, and before another thread sleeps in this way.
 *
 * Under the shim's lock. Not called at all without MPI_THREAD_MULTIPLE.
 */
#ifndef ZIP_LIBZIP_WAITERS_H
#define ZIP_LIBZIP_WAITERS_H

#include <stdbool.h>

/* 0 or -errno. */
int zwaiters_init(void);
void zwaiters_fini(void);

/* A thread waits; done(ctx) was false. True: a leader has found it to be true. False: this thread leads now, and no
 * other does until zwaiters_leave. A thread that leads already may join again (a callback), with another leave for
 * each. */
bool zwaiters_join(bool (*done)(void *ctx), void *ctx);
/* The leader, after a turn, which did something or not: wakes the threads that are done. */
void zwaiters_serve(bool did);
/* The leader stops leading: another waiting thread leads, if there is one. */
void zwaiters_leave(void);
/* Does no other thread wait? */
bool zwaiters_are_none(void);

/* The leader, before and after it sleeps on descriptors, one of which is zwaiters_fd. False: it must not sleep now.
 * There is something to look at, another thread has still to wake up from there, or this thread leads inside of a
 * turn. */
bool zwaiters_rest(void);
/* Results as zwaiters_join. */
bool zwaiters_resume(bool (*done)(void *ctx), void *ctx);
/* The descriptor by which the sleeper is called; -1: none, without MPI_THREAD_MULTIPLE. */
int zwaiters_fd(void);
/* A thread that does not lead has made a turn that did something. May be called at a station; everything else here is
 * for a thread that has the whole library. */
void zwaiters_disturbed(void);

#endif
