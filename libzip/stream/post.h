/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting envelopes on a channel. Under the shim's lock. */
#ifndef ZIP_LIBZIP_POST_H
#define ZIP_LIBZIP_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct zchannel;
struct zremote;

/* Posts a message to a remote rank by that channel, or (NULL) by the rank's own; fills src, dst and ack. 0, or -EAGAIN:
 * the link is full. */
int zpost_message(struct zremote *, struct zchannel *, struct zwire_env *, const void *payload);
/* Posts to zipperd, or to the receivers of a list; fills src alone. 0 or -EAGAIN. */
int zpost_raw(struct zchannel *, struct zwire_env *, const void *payload);
/* Posts an unsequenced envelope, or keeps it until the link has room. key: [env->len], 0 or ZRMA_KEY_BYTES; copied. */
void zpost_control(struct zremote *, struct zchannel *, struct zwire_env *, const uint8_t *key);
/* Posts the unsequenced envelopes that were kept. Returns whether any went out. */
bool zpost_kept(struct zchannel *);
/* Pushes out what was posted. */
void zpost_flush(struct zchannel *);

#endif
