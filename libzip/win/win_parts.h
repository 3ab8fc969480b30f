/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of windows ask of each other, see win.h. */
#ifndef ZIP_LIBZIP_WIN_PARTS_H
#define ZIP_LIBZIP_WIN_PARTS_H

#include "libzip/win/win_message.h"

/* --- at the origin (win_origin.c) --- */

struct zwin_call { /* an operation of the application, in its largest form */
	const char *name;
	enum zwin_kind kind;
	const void *origin;
	MPI_Count origin_count;
	MPI_Datatype origin_type;
	const void *compare; /* ZWIN_SWAP */
	void *result;
	MPI_Count result_count;
	MPI_Datatype result_type;
	int target;
	MPI_Aint disp;
	MPI_Count target_count;
	MPI_Datatype target_type;
	MPI_Op op;
	bool fetch; /* ZWIN_GET_ACCUMULATE: it is MPI_Fetch_and_op */
};

/* Starts it on a remote target. request NULL: none is wanted. An MPI error class. */
int zwin_start(struct zwin *, struct zwin_peer *, const struct zwin_call *, MPI_Request *request);
/* Have all operations of the peer completed here? */
bool zwin_ops_done(struct zwin_peer *);

/* --- completion and epochs (win_sync.c, win_lock.c) --- */

/* Puts it into the list of those that something is to be done about. */
void zwin_touch(struct zwin *, struct zwin_peer *);
/* MPI_SUCCESS, also for MPI_PROC_NULL, or a code that has been raised. */
int zwin_check_rank(struct zwin *, int rank, const char *name);
/* Only assertions that are known? The same. */
int zwin_check_assert(const struct zwin *, int assertion, int known, const char *name);
/* May another epoch of the origin begin? MPI_SUCCESS or a code that has been raised. */
int zwin_check_idle(struct zwin *, const char *name);
/* Are all closed, those of the target, too? The same. */
int zwin_check_closed(struct zwin *, const char *name);
/* The peer, or NULL: then *rc is a code that has been raised. */
struct zwin_peer *zwin_get_peer(struct zwin *, int rank, const char *name, int *rc);
/* May this target be accessed now? Waits for its lock. MPI_SUCCESS or a code that has been raised. */
int zwin_may_access(struct zwin *, int target, const char *name, struct zwin_peer **);

/* Completes what this rank has begun on one member (NULL: on all), at origin and target, or at the origin alone.
 * release: and gives the lock of that one back. MPI_SUCCESS or a code that has been raised. */
int zwin_complete(struct zwin *, struct zwin_peer *, bool release, const char *name);
int zwin_complete_here(struct zwin *, struct zwin_peer *, const char *name);
/* Everything that was ever said has been heard: before the end of the window. The same. */
int zwin_complete_talk(struct zwin *, const char *name);

/* --- at the target (win_target.c, win_lock.c) --- */

/* Executes an operation; the message's memory is not used any more on return. */
void zwin_execute(struct zwin *, struct zwin_peer *from, const struct zwin_message *);
/* FLUSH has come. */
void zwin_answer(struct zwin *, struct zwin_peer *from, bool release);
/* Goes on with what is under way. */
bool zwin_tasks_turn(void);
/* Somebody, perhaps this rank, wants the lock of this rank; or gives it back. */
int zwin_lock_asked(struct zwin *, struct zwin_peer *, int type);
void zwin_unlocked(struct zwin *, struct zwin_peer *);

/* Regions of a dynamic window (win_region.c). attach: MPI_SUCCESS or MPI_ERR_NO_MEM. */
int zwin_region_attach(struct zwin *, const void *base, MPI_Aint size);
void zwin_region_detach(struct zwin *, const void *base);
void zwin_regions_free(struct zwin *);
/* May bytes from..to (excluded), addresses relative to the base (or of regions), be accessed? */
bool zwin_holds(const struct zwin *, intptr_t from, intptr_t to);

#endif
