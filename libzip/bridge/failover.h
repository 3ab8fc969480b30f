/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Going on without a zipper. A rail is lost when its control session ends, when its zipperd says DEAD, when a data
 * channel to its zipperd breaks, or when another rank says that it has lost the rail (wire.h, RAILS). Then every rank
 * drops the rail. If a rank dies, all zippers say so, one after the other: the word of the last one on a rank ends the
 * job, as it does where there is only one. A rail counts as the last one, too, if no other carries between this part
 * and some part (rails.h).
 *
 * After the loss, this rank and each rank that it has talked to by zippers tell each other two things: that nothing
 * more comes by the lost rail, and what they have taken. Until then nothing is posted to that rank. Then messages that
 * were not taken are posted again, by the rail that the pair has now. Receivers restart transfers from the bytes that
 * they have. Senders ask about messages that were taken but not answered. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FAILOVER_H
#define ZIP_LIBZIP_FAILOVER_H

#include <stdbool.h>

#include "common/wire/wire.h"

struct zremote;

/* tells: vrank 0 tells the user of lost zippers; false: the launcher does. */
void zfailover_init(bool tells);
/* Part of every turn of progress, outside of polls of links. Returns whether anything happened. */
bool zfailover_turn(void);
/* Is such a turn due? A thread at a station then has to get the whole library for it. */
bool zfailover_is_due(void);

/* A rank that has lost rails says RAILS or ASK. */
void zfailover_take_rails(struct zremote *from, const struct zwire_env *);
void zfailover_take_ask(struct zremote *from, const struct zwire_env *);

/* From now on other ranks may leave: only acknowledgements of our messages are waited for, and losses are told again
 * until those have come. */
void zfailover_leave(void);
/* Tells the user of losses that have not been told yet: at the end of a job that has gone on. */
void zfailover_say(void);

#endif
