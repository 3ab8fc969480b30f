/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether messages to a remote rank go over a direct link or by zippers. Until that is decided the rank's channel is
 * waiting: it takes messages into its queues and posts none. ctl.h has the protocol, direct.h makes the links.
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_CHOICE_H
#define ZIP_LIBZIP_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"

struct zchannel;
struct zremote;
struct zstation;

/* Do this rank and that remote one share a fabric? */
bool zchoice_is_possible(uint32_t vrank);
/* The channel of a rank that is new: waiting, with zipperd asked for a direct link; or the channel by zippers where no
 * direct link is possible. NULL: no memory. */
struct zchannel *zchoice_begin(struct zstation *, uint32_t vrank);
/* The rank goes over the bridge after all, and what waits in its own channel with it. */
void zchoice_give_way(struct zremote *);

/* Tells zipperd something about the direct link to that rank: at once, or from a station other than 0 as soon as a
 * thread has the whole library. */
void zchoice_say(const struct zstation *, enum zctl_direct_what, uint32_t vrank);
/* Do stations have something to say to zipperd? A thread that has the whole library says it. */
bool zchoice_is_due(void);
void zchoice_say_all(void);
/* Frees what has not been said. */
void zchoice_fini(void);

#endif
