/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of windows (MPI-4.0 section 12.5.3), at both ends. A rank grants its lock in the order in which members have
 * asked for it, so nobody starves, and an exclusive request holds up later shared ones. MPI_Win_lock waits for the
 * grant: programs that lock several ranks in the same order count on having the first lock when they ask for the
 * second.
 */
#ifndef ZIP_LIBZIP_WIN_LOCK_H
#define ZIP_LIBZIP_WIN_LOCK_H

#include "libzip/win/win.h"

/* As a target. A member, perhaps this rank, asks for the lock of this rank; type: MPI_LOCK_SHARED or
 * MPI_LOCK_EXCLUSIVE. */
void zwin_lock_asked(struct zwin *, struct zwin_peer *, int type);
/* A member gives the lock back. Ends the job where it does not hold the lock. */
void zwin_lock_returned(struct zwin *, struct zwin_peer *);

/* As an origin. Asks a member for its lock and waits for the grant. unchecked: the program says that nobody else wants
 * it (MPI_MODE_NOCHECK). MPI_SUCCESS or a code that has been raised. */
int zwin_lock_ask(struct zwin *, struct zwin_peer *, int type, bool unchecked, const char *name);
/* Gives it back. MPI_SUCCESS or an error class. */
int zwin_lock_give_back(struct zwin *, struct zwin_peer *);
/* May this target be accessed in the current epoch? Under MPI_Win_lock_all asks for its lock if need be. *peer is set
 * on success. MPI_SUCCESS or a code that has been raised. */
int zwin_lock_may_access(struct zwin *, int target, const char *name, struct zwin_peer **peer);

#endif
