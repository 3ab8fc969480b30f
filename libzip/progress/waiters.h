/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait in MPI at the same time (MPI_THREAD_MULTIPLE). One of them, the leader, turns the engine for all
 * and asks for each, after every turn, whether what it waits for is there; the others sleep until it is, or until they
 * are to lead. If every thread turned the engine for itself the lock would go around all of them for every message, a
 * switch of threads each: of 16 threads that exchange messages with 16 others, each pair did 190 round trips a second.
 *
 * Who sleeps on descriptors leads no more, as a thread that comes then can begin at once. But what was armed for the
 * sleeper may not be after the turns of others, who may also find what it waits for; so it is called when something was
 * found, when nobody leads any more, and before another thread sleeps so.
 *
 * Under the shim's lock. Not called at all without MPI_THREAD_MULTIPLE.
 */
#ifndef ZIP_LIBZIP_WAITERS_H
#define ZIP_LIBZIP_WAITERS_H

#include <stdbool.h>

/* 0 or -errno. */
int zwaiters_init(void);
void zwaiters_fini(void);

/* done(ctx) was false. True: a leader has found it to be true. False: this thread leads now, and nobody else does until
 * zwaiters_leave. A thread that leads already may join again (a callback), with another leave for each. */
bool zwaiters_join(bool (*done)(void *ctx), void *ctx);
/* The leader, after a turn, which did something or not: wakes those for whom it is done. */
void zwaiters_serve(bool did);
/* The leader: makes another one lead, if anybody waits. */
void zwaiters_leave(void);
/* Does nobody else wait? */
bool zwaiters_are_none(void);

/* The leader, before and after it sleeps on descriptors, one of which is zwaiters_fd. False: not now, as there is
 * something to look at, another thread has still to wake up from there, or this one leads inside of a turn. */
bool zwaiters_rest(void);
/* As zwaiters_join. */
bool zwaiters_resume(bool (*done)(void *ctx), void *ctx);
/* -1: none, without MPI_THREAD_MULTIPLE. */
int zwaiters_fd(void);
/* Somebody who does not lead has made a turn that did something. Also at a station: only who has the whole library
 * changes the rest of this. */
void zwaiters_disturbed(void);

#endif
