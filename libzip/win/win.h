/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows (MPI-4.0 chapter 12) of spanning communicators. A window that is not in this table is local; native calls
 * serve it.
 *
 * The application holds a native window over the members of my part. In this native window every member locks all
 * others, with MPI_MODE_NOCHECK, for the window's whole life. So operations on local targets are native and may come
 * at any time. Operations on remote targets are messages (win_message.h), which the target executes. The target
 * executes accumulating operations as native operations on itself, so they are atomic with those of its neighbours.
 * Epochs and locks are a matter of this library alone, for local targets as well. All work is done at station 0 by a
 * thread that has the library as a whole.
 */
#ifndef ZIP_LIBZIP_WIN_H
#define ZIP_LIBZIP_WIN_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/comm.h"

struct zwin_op;
struct zwin_region;
struct zwin_task;
struct zwin_waiter;

enum zwin_lock { ZWIN_FREE, ZWIN_ASKED, ZWIN_HELD, ZWIN_UNCHECKED };

/* The books about another member, or about this rank itself; made with the first message to or from it. */
struct zwin_peer {
	int rank;
	/* This rank as the origin, the member as the target. */
	struct zwin_op *ops, *last_op; /* under way, in the order of their start */
	unsigned nops;
	bool native_dirty; /* in my part: native operations since the last native flush */
	bool dirty;	   /* operations were sent whose completion at the target is not known */
	bool said;	   /* messages were sent since the last FLUSH */
	bool touched;	   /* in the window's list of peers with something left to do */
	struct zwin_peer *next;
	int64_t stirred_ns;	   /* in my part: time of the last STIR */
	uint64_t flushes, flushed; /* FLUSHs sent, and answered */
	int error;		   /* class of an error there or on the way; raised with the next completion */
	enum zwin_lock lock;
	bool started; /* the member is in the group of MPI_Win_start */
	uint64_t posts;
	/* This rank as the target, the member as the origin. */
	unsigned tasks;			      /* operations that are not complete */
	struct zwin_task *queue, *queue_last; /* operations that had to wait, in order */
	struct zwin_peer *busy_next;
	uint64_t asks; /* FLUSHs that wait for an answer */
	bool releases; /* the answer also ends its lock */
	int task_error;
	int holds;	    /* 0, MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE */
	uint64_t completes; /* its MPI_Win_complete calls that no MPI_Win_wait has seen */
};

enum zwin_access { ZWIN_NO_EPOCH, ZWIN_FENCE, ZWIN_START, ZWIN_LOCK, ZWIN_LOCK_ALL };

struct zwin {
	MPI_Win handle;
	uint64_t id;	    /* the same in every member, unique in the job */
	struct zcomm *comm; /* a twin of the program's, with the same ranks; a reference */
	uint8_t *base;
	MPI_Aint size;
	MPI_Aint disp_unit;
	bool dynamic;		     /* MPI_Win_create_dynamic: displacements are addresses in the regions */
	bool no_locks;		     /* the hint no_locks */
	struct zwin_region *regions; /* attached ones */
	struct zwin_peer **peer;     /* [comm->size], NULL: no message yet */
	struct zwin_peer *touched;   /* peers with operations not known to be complete, or with a lock */

	enum zwin_access access;
	bool unchecked; /* MPI_Win_lock_all with MPI_MODE_NOCHECK */
	int locked;	/* ZWIN_LOCK: number of locked targets */
	int *start;	/* [nstart]: ranks of MPI_Win_start; post: of MPI_Win_post */
	int *post;
	int nstart, npost;
	bool exposed; /* between MPI_Win_post and MPI_Win_wait */

	/* This rank's lock: holders, and members that wait for it. */
	int holders;
	bool exclusive;
	struct zwin_waiter *waiters, *last_waiter;

	struct zwin *next, *next_id; /* in the two chains of the table */
};

/* NULL: local. */
struct zwin *zwin_find(MPI_Win);
struct zwin *zwin_by_id(uint64_t id);
void zwin_enter(struct zwin *); /* adds it to the table */
void zwin_leave(struct zwin *);
extern _Atomic unsigned zwin_n; /* windows in the table */
extern unsigned zwin_n_local;	/* of these, windows with other members in my part */

/* Is the window in the table? For callers without the lock. */
bool zwin_is_there(MPI_Win);
static inline bool zwin_spans(MPI_Win win)
{
	return atomic_load_explicit(&zwin_n, memory_order_relaxed) > 0 && zwin_is_there(win);
}

/* The books about a member, made when they are first needed. NULL: no memory. */
struct zwin_peer *zwin_peer(struct zwin *, int rank);
/* The same. NULL: *rc is a code that has been raised; name is the MPI function. */
struct zwin_peer *zwin_get_peer(struct zwin *, int rank, const char *name, int *rc);
/* Puts the peer into the window's list of touched ones. */
void zwin_touch(struct zwin *, struct zwin_peer *);

/* As zerror_raise, with the error handler of the window. */
int zwin_raise(const struct zwin *, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static inline bool zwin_is_local(const struct zwin *w, int rank)
{
	return zcomm_is_local_rank(w->comm, rank);
}
/* The rank in the native window. */
static inline int zwin_native_rank(const struct zwin *w, int rank)
{
	return zcomm_shadow_rank(w->comm, rank);
}

#endif
