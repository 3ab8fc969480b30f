/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every file of libzip needs: the native entry points, the depth that tells the native library's calls from the
 * application's, and the lock.
 *
 * Generated wrappers (gen/) define MPI_X and, as the same function, PMPI_X for every function of functions.tab that
 * needs it; for the class `own`, with enter.h:
 *
 *     int MPI_X(args)
 *     {
 *             if (!zshim_hooks || zshim_depth > 0) return zn.X(args);
 *             if (zshim_active) { was = zenter();  rc = zip_X(args);  zleave(was); } else rc = zn.X(args);
 *             if (rc == MPI_SUCCESS && zshim_hooks & ZSHIM_RECORD) zrecord_...(...);
 *             return rc;
 *     }
 *
 * Under MPI_THREAD_MULTIPLE there is a lock for each station (station.h). A thread is in one of two places: in the
 * library as a whole, where it has all of them, or at one station, with that one's alone. There it touches what is the
 * station's own, and reads what is only changed by who has the library as a whole: communicators, the world, rails
 * (what stations change of that is atomic, and says so). "The shim's lock" is either, as the case may be. A thread at
 * a station takes no other lock; zshim_whole gives it up for all of them, which everything does that is not
 * point-to-point between a call and its completion: errors, callbacks, sleeping, lost rails.
 *
 * Hand-written implementations are called zip_X with exactly the arguments of MPI_X, live in libzip, call native MPI
 * through zn.X only, and never public MPI symbols.
 */
#ifndef ZIP_LIBZIP_SHIM_H
#define ZIP_LIBZIP_SHIM_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/shim/native.h" /* generated: struct znative { int (*Send)(...); ... } zn; and prototypes int zip_Send(...); */

/* > 0: this thread is in a native function that calls public MPI symbols itself (files): they are then plain
 * pass-throughs. Nothing else of the native library does, and libzip does not: who calls one from inside of these is a
 * callback of the application, which has to see the merged world. */
extern __thread int zshim_depth __attribute__((tls_model("initial-exec")));

/* The world is merged, between MPI_Init and MPI_Finalize. While false no wrapper but those of class `always` does more
 * than the native call and its recording. Written by init.c only. */
extern bool zshim_active;

/* What a wrapper has to do beside the native call; 0 outside MPI_Init to MPI_Finalize and in a job that neither spans
 * clusters nor is recorded. Written by init.c and record.c only, while no other thread is in MPI. */
extern unsigned zshim_hooks;
#define ZSHIM_MERGED 1u /* as zshim_active */
#define ZSHIM_RECORD 2u /* calls are recorded, see record.h */

/* The low four bits: how many calls of this thread are inside of each other (callbacks) since it took the lock last;
 * above these the same from before it gave the lock up for a native call that blocks. */
extern __thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
/* The station whose lock alone this thread has; 0: it has all, or none. */
extern __thread int zshim_at __attribute__((tls_model("initial-exec")));
#define ZSHIM_NESTING_BITS 4
#define ZSHIM_NESTING (((uint64_t)1 << ZSHIM_NESTING_BITS) - 1)

/* Enter: under MPI_THREAD_MULTIPLE take the lock, unless this thread has it: of the library as a whole, or of a
 * station but the first, if that is enough. */
static inline void zshim_enter(void);
static inline void zshim_enter_at(int station);
static inline void zshim_leave(void);
/* This thread, wherever it is, goes on in the library as a whole: others may have entered meanwhile. */
static inline void zshim_whole(void);
/* Around calls that run callbacks of the application (error handlers, attribute callbacks, reduction operations):
 * other threads may enter meanwhile. */
static inline void zshim_callback_begin(void);
static inline void zshim_callback_end(void);
/* Lets other threads in if any wait: in every turn of every wait loop. */
static inline void zshim_relax(void);
/* Around a native call or a system call that may block: other threads may enter meanwhile. */
static inline void zshim_block_begin(void);
static inline void zshim_block_end(void);

extern bool zshim_threaded; /* MPI_THREAD_MULTIPLE was provided */
/* Nobody waits for ever, and a thread in a wait loop does not starve the others. Not recursive. */
void zshim_lock(void); /* all of them */
void zshim_lock_at(int station);
void zshim_unlock(void);	/* what this thread has */
void zshim_lock_pass(void);	/* that to the threads that wait already, and take it back after them */
void zshim_narrow(int station); /* from all to that station's */

/* A thread that sleeps, without the lock, until another one wakes it, which has it; on the sleeper's stack. Awake it
 * has the lock again: so it is in the line of those who wait for that from when it is woken. */
struct zshim_sleeper {
	pthread_cond_t changed;
	bool in; /* it has the lock */
	struct zshim_sleeper *next;
};
#define ZSHIM_SLEEPER ((struct zshim_sleeper){.changed = PTHREAD_COND_INITIALIZER})
void zshim_sleep(struct zshim_sleeper *);
/* Once. It is not touched any more when the lock has been given up after that. */
void zshim_wake(struct zshim_sleeper *);

static inline void zshim_enter(void)
{
	if (__builtin_expect(zshim_threaded, 0)) {
		if ((zshim_entered & ZSHIM_NESTING) == 0)
			zshim_lock();
		else
			zshim_whole();
	}
	zshim_entered++;
}
static inline void zshim_enter_at(int station)
{
	if ((zshim_entered & ZSHIM_NESTING) == 0)
		zshim_lock_at(station);
	else if (zshim_at != station)
		zshim_whole();
	zshim_entered++;
}
static inline void zshim_whole(void)
{
	if (__builtin_expect(zshim_at != 0, 0)) {
		zshim_unlock();
		zshim_lock();
	}
}
static inline void zshim_leave(void)
{
	zshim_entered--;
	if (__builtin_expect(zshim_threaded, 0) && (zshim_entered & ZSHIM_NESTING) == 0)
		zshim_unlock();
}
static inline void zshim_callback_begin(void)
{
	zshim_leave();
}
static inline void zshim_callback_end(void)
{
	zshim_enter();
}
static inline void zshim_relax(void)
{
	if (__builtin_expect(zshim_threaded, 0))
		zshim_lock_pass();
}
static inline void zshim_block_begin(void)
{
	if (__builtin_expect(!zshim_threaded, 1))
		return;
	zshim_unlock();
	zshim_entered <<= ZSHIM_NESTING_BITS;
}
static inline void zshim_block_end(void)
{
	if (__builtin_expect(!zshim_threaded, 1))
		return;
	zshim_entered >>= ZSHIM_NESTING_BITS;
	zshim_lock();
}

#endif
