/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Going on without a zipper. A rail is lost when its control session ends, when zipperd there says DEAD, when a data
 * channel there breaks, or when another rank says that it has lost it (wire.h, RAILS): then every rank drops it. So a
 * rank that dies is what all zippers say, one after the other, and the last one's word ends the job, as it does where
 * there is only one. The last one is also who alone has carried between our part and another (rails.h).
 *
 * What was under way by the lost rail: this rank and each that it has talked to by zippers tell each other that nothing
 * more comes by it, and what they have taken; until then nothing is posted to that one. Then messages that were not
 * taken are posted again by the rail that the pair has now, receivers restart transfers from the bytes that they have,
 * and senders ask about messages that were taken but not answered. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FAILOVER_H
#define ZIP_LIBZIP_FAILOVER_H

#include <stdbool.h>

#include "common/wire/wire.h"

struct zremote;

/* tells: rank 0 of the first part tells the user of zippers that are lost; else somebody else does. */
void zfailover_init(bool tells);
/* Part of every turn of progress, outside of polls of links. Returns whether anything happened. */
bool zfailover_turn(void);
/* Should there be one soon? At a station: somebody is to have the library as a whole for it. */
bool zfailover_is_due(void);

/* What a rank says that has lost rails: RAILS, ASK. */
void zfailover_take_rails(struct zremote *from, const struct zwire_env *);
void zfailover_take_ask(struct zremote *from, const struct zwire_env *);

/* From now on others may leave, and the word that they have is all that is to be waited for. */
void zfailover_leave(void);
/* Says what has not been said yet of rails that were lost: at the end of a job that has gone on. */
void zfailover_say(void);

#endif
