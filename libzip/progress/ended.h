/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks whose process ends without MPI_Finalize (STATE in common/control/ctl.h). From the first one on, this rank tells
 * the zippers what it does: whether it goes on, or waits in MPI for a while already, or is at its end, too. Under the
 * shim's lock, in the library as a whole.
 */
#ifndef ZIP_LIBZIP_ENDED_H
#define ZIP_LIBZIP_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"

extern bool zended_any; /* some rank ends without MPI_Finalize */
/* Have all zippers said that all ranks are at the end, and none waits for another any more? */
bool zended_is_over(void);

/* MPI_Init. tells: the user hears from the first such rank itself; false: from the launcher. */
void zended_init(bool tells);
/* That rail's zipper has said something. */
void zended_take(int rail, const struct zctl_state *);

/* A zipper has ended the job. The others are perhaps about to, for the same reason: from now on they do not hear that
 * this rank waits, or does not wait any more. */
void zended_freeze(void);

/* That rail has come back: its zipper does not know what this rank has told. */
void zended_return(int rail);

/* From now on this rank is in MPI_Finalize, or at the end of its process without it. Tells the zippers. */
void zended_finalize(void);
void zended_end(void);
/* The process ends with this exit status, which is not 0: tells the zippers. */
void zended_fail(uint32_t status);

/* If zended_any: this thread looks in vain for what it waits for (it may sleep for less than 0.1 s between two calls);
 * or something has come; or it does not wait any more. */
void zended_wait(bool came);
void zended_go_on(void);

#endif
