/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows (MPI-4.0 chapter 12) of spanning communicators. A window that is not in this table is local: native calls are
 * right for it.
 *
 * What the application holds is a native window over the members of my part, in which every member has locked all
 * others from its making to its end, with MPI_MODE_NOCHECK. So operations on local targets are native ones, at any
 * time; operations on remote targets are messages (win_message.h) that the target executes: accumulating ones by native
 * operations on itself, so that they are atomic with those of its neighbours. Epochs and locks are between us alone,
 * for local targets as well. All is done at station 0, by who has the library as a whole.
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

/* Another member, or myself, seen from here: made when the first thing is said to or by it. */
struct zwin_peer {
	int rank;
	/* As its origin. */
	struct zwin_op *ops, *last_op; /* under way, in the order of their start */
	unsigned nops;
	bool native_dirty; /* in my part: native operations since the last native flush */
	bool dirty;	   /* something was sent that has to be known to be complete there */
	bool said;	   /* something was said since FLUSH */
	bool touched;	   /* in the window's list of those that something is to be done about */
	struct zwin_peer *next;
	int64_t stirred_ns;	   /* in my part: when it was told of native operations on it */
	uint64_t flushes, flushed; /* asked, and answered */
	int error;		   /* class of what went wrong there, or on the way; raised with the next completion */
	enum zwin_lock lock;
	bool started; /* it is in the group of MPI_Win_start */
	uint64_t posts;
	/* As its target. */
	unsigned tasks;			      /* not complete */
	struct zwin_task *queue, *queue_last; /* those that could not be complete at once, in order */
	struct zwin_peer *busy_next;
	uint64_t asks; /* FLUSHED that it waits for */
	bool releases; /* and it unlocks then */
	int task_error;
	int holds;	    /* 0, MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE */
	uint64_t completes; /* MPI_Win_complete of it that no MPI_Win_wait has seen */
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
	bool no_locks;		     /* the hint */
	struct zwin_region *regions; /* that are attached */
	struct zwin_peer **peer;     /* [comm->size], NULL: not met */
	struct zwin_peer *touched;   /* with operations that are not known to be complete, or a lock */

	enum zwin_access access;
	bool unchecked; /* MPI_Win_lock_all with MPI_MODE_NOCHECK */
	int locked;	/* ZWIN_LOCK: targets */
	int *start;	/* [nstart]: ranks of MPI_Win_start; of MPI_Win_post */
	int *post;
	int nstart, npost;
	bool exposed; /* between MPI_Win_post and MPI_Win_wait */

	/* As a target: who holds its lock, and who waits for it. */
	int holders;
	bool exclusive;
	struct zwin_waiter *waiters, *last_waiter;

	struct zwin *next, *next_id; /* in the table */
};

/* NULL: local. */
struct zwin *zwin_find(MPI_Win);
struct zwin *zwin_by_id(uint64_t id);
void zwin_enter(struct zwin *); /* into the table */
void zwin_leave(struct zwin *);
extern _Atomic unsigned zwin_n; /* that are in it */
extern unsigned zwin_n_local;	/* of these, how many have other members in my part */

/* For who has no lock: is it in the table? */
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

/* As zerror_raise, by the error handler of the window. */
int zwin_raise(const struct zwin *, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static inline bool zwin_is_local(const struct zwin *w, int rank)
{
	return zcomm_is_local_rank(w->comm, rank);
}
/* The rank in the native window. */
static inline int zwin_native_rank(const struct zwin *w, int rank)
{
	return w->comm->shadow_rank[rank];
}

#endif
