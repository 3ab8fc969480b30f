/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that members in other parts have started on this rank's memory. Their data travel at the same time,
 * straight from and to the window. The operations of one origin end in the order in which the origin started them.
 * Accumulating operations are executed in that order (MPI-4.0 section 12.7.2), by native operations of this rank on
 * itself. So each element is updated in one piece, even while local members update it.
 */
#ifndef ZIP_LIBZIP_WIN_TARGET_H
#define ZIP_LIBZIP_WIN_TARGET_H

#include "libzip/win/win_message.h"

/* Starts an operation that a message asks for. On return the memory of the message is not used any more. Ends the job
 * where memory is out. */
void zwin_target_execute(struct zwin *, struct zwin_peer *from, const struct zwin_message *);
/* FLUSH has come: answers when all operations of the sender are complete. release: and takes back the lock it holds. */
void zwin_target_flush(struct zwin *, struct zwin_peer *from, bool release);
/* Goes on with the operations under way. True: one has ended. */
bool zwin_target_turn(void);

#endif
