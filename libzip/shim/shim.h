/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The base of libzip: the native entry points, the depth that tells the native library's calls from the application's,
 * and the lock.
 *
 * Generated wrappers (gen/) define MPI_X and, as the same function, PMPI_X for every function of functions.tab that
 * needs it. For the class `own`, with enter.h:
 *
 *     int MPI_X(args)
 *     {
 *             if (!zshim_hooks || zshim_depth > 0) return zn.X(args);
 *             if (zshim_active) { was = zenter();  rc = zip_X(args);  zleave(was); } else rc = zn.X(args);
 *             if (rc == MPI_SUCCESS && zshim_hooks & ZSHIM_RECORD) zrecord_...(...);
 *             return rc;
 *     }
 *
 * The wrapper of a call that may take time is called_X, and MPI_X measures its time where ZSHIM_TIME asks for it.
 *
 * Under MPI_THREAD_MULTIPLE there is a lock for each station (station.h). A thread is in one of two places. In the
 * library as a whole it has all locks. At one station it has the lock of that station alone; there it touches the
 * station's own state, and reads state that only changes under all locks: communicators, the world, rails. (State of
 * that kind that stations do change is atomic, and its comment says so.) "The shim's lock" means either, as the case
 * may be.
 *
 * A thread at a station takes no other lock. zshim_whole gives the station's lock up and takes all of them. Everything
 * except point-to-point between a call and its completion does that: errors, callbacks, sleeping, lost rails.
 *
 * A hand-written implementation is called zip_X and has exactly the arguments of MPI_X. It calls native MPI through
 * zn.X only, and never a public MPI symbol.
 */
#ifndef ZIP_LIBZIP_SHIM_H
#define ZIP_LIBZIP_SHIM_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/shim/native.h" /* generated: struct znative { int (*Send)(...); ... } zn; and prototypes int zip_Send(...); */

/* > 0: this thread is in a native function that calls public MPI symbols itself (files), and these calls pass through.
 * No other native function does so, and neither does libzip. A call from inside any other native function comes from a
 * callback of the application, which has to see the merged world. */
extern __thread int zshim_depth __attribute__((tls_model("initial-exec")));

/* The world is merged, and MPI is in use. While false, only wrappers of class `always` do more than the native call
 * and its recording. Written by init.c only. */
extern bool zshim_active;

/* The work of a wrapper beside the native call. 0 outside MPI_Init to MPI_Finalize, and in a job that neither spans
 * clusters nor is recorded. Written by init.c and record.c only, while no other thread is in MPI. */
extern unsigned zshim_hooks;
#define ZSHIM_MERGED 1u /* as zshim_active */
#define ZSHIM_RECORD 2u /* calls are recorded, see record.h */
#define ZSHIM_TIME 4u	/* and their time is measured; only with ZSHIM_RECORD */

/* The low four bits: the number of nested calls of this thread (callbacks) since it last took the lock. Above them the
 * same from before the thread gave the lock up for a native call that blocks. */
extern __thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
/* The only station whose lock this thread has; 0: the thread has all locks, or none. */
extern __thread int zshim_at __attribute__((tls_model("initial-exec")));
#define ZSHIM_NESTING_BITS 4
#define ZSHIM_NESTING (((uint64_t)1 << ZSHIM_NESTING_BITS) - 1)

/* Enter: under MPI_THREAD_MULTIPLE takes the lock, unless this thread has it. enter takes the lock of the library as a
 * whole; enter_at takes that of a station but the first, if that is enough. */
static inline void zshim_enter(void);
static inline void zshim_enter_at(int station);
static inline void zshim_leave(void);
/* This thread goes on in the library as a whole, wherever it was. Other threads may have entered meanwhile. */
static inline void zshim_whole(void);
/* Around calls that run callbacks of the application (error handlers, attribute callbacks, reduction operations):
 * other threads may enter meanwhile. */
static inline void zshim_callback_begin(void);
static inline void zshim_callback_end(void);
/* Lets waiting threads in. Called in every turn of every wait loop. */
static inline void zshim_relax(void);
/* Around a native call or a system call that may block: other threads may enter meanwhile. */
static inline void zshim_block_begin(void);
static inline void zshim_block_end(void);

extern bool zshim_threaded; /* MPI_THREAD_MULTIPLE was provided */
/* The lock itself. No thread waits for ever, and a thread in a wait loop does not starve the others. Not recursive. */
void zshim_lock(void); /* all of them */
void zshim_lock_at(int station);
void zshim_unlock(void);	/* gives up all locks of this thread */
void zshim_lock_pass(void);	/* gives them to the threads that wait already, and takes them back after these */
void zshim_narrow(int station); /* keeps the lock of that station alone */

/* A thread that sleeps without the lock until a thread with the lock wakes it. On the sleeper's stack. An awake
 * sleeper has the lock again, so from its waking on it stands in the line for the lock. */
struct zshim_sleeper {
	pthread_cond_t changed;
	bool in; /* it has the lock */
	struct zshim_sleeper *next;
};
#define ZSHIM_SLEEPER ((struct zshim_sleeper){.changed = PTHREAD_COND_INITIALIZER})
void zshim_sleep(struct zshim_sleeper *);
/* Wakes a sleeper, once. The sleeper may be gone when the caller has given up the lock. */
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
