/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes that a rail is lost. Any module may do so at any time; failover.h acts on the notes between two polls of the
 * links. The loss of the last rail ends the job. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_LOSS_H
#define ZIP_LIBZIP_LOSS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/control/ctl.h"

struct zremote;

#define ZLOSS_WHY_BYTES 256

/* Something is to be looked at: a loss that another station has noted, or a rank that has been met or has spoken. Every
 * station may set it; the failover clears it. */
extern atomic_bool zloss_heard;

/* Forgets all notes. */
void zloss_init(void);
/* That rail cannot be used any more; why is copied. If it was the last rail to some part, and its zipper says that the
 * job is over, or the job does not wait for zippers to come back, this does not return. At a station other than 0 the
 * note waits until a thread has the whole library, see zloss_collect. */
void zloss_note(int rail, const char *why);
/* The same after the last word of its zipper. At station 0. */
void zloss_note_end(int rail, const char *why);
/* Station 0: notes what the other stations have lost. */
void zloss_collect(void);
/* A zipper says that a rank has died, and the job goes on by others. They mostly say the same soon. If they are lost
 * meanwhile without a word, that death is the end of the job, see zloss_end_by_word. */
void zloss_remember(const struct zctl_dead *);
/* A zipper is back with all ranks: none of them has died. */
void zloss_forget(void);
/* The last rail to some part is lost without a word: ends the job if a zipper has named a dead rank shortly before. */
void zloss_end_by_word(void);
/* The reason for a rail's loss, [ZLOSS_WHY_BYTES], which the failover may replace by a better one. */
char *zloss_why(int rail);

/* Messages to this rank go by zippers from now on. The rank may not have heard yet of an earlier loss; it would answer
 * by the lost rail, and neither end would know that the answer is missing. So its stream is halted until it has been
 * told. */
void zloss_meet(struct zremote *);

/* A link broke, and the job cannot go on: waits for zipperd's reason (DEAD), then ends the job with that reason, or
 * with text. patient: zipperd may not have noticed yet, as the link was not its own. */
void zloss_end(const char *text, bool patient) __attribute__((noreturn));

#endif
