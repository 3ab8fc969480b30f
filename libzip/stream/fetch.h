/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages over a direct link whose transport has one-sided operations (transport.h). The sender exposes its
 * bytes, as it would to zipperd, and names them in its RTS. The receiver reads them to where they belong, and says
 * DONE. The sender does nothing meanwhile, and nobody copies. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FETCH_H
#define ZIP_LIBZIP_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/transport/base/transport.h"

struct zchannel;
struct zop;
struct zoplist;

/* The receive op (remote, total and its memory set) begins to read what the key opens. False: it cannot. */
bool zfetch_start(struct zop *op, const uint8_t key[ZRMA_KEY_BYTES]);
/* Goes on with all receives of a channel, which has some. Appends those whose bytes have all come to `came`. > 0:
 * something happened; 0; or the reason why its link is broken. */
int zfetch_turn(struct zchannel *, struct zoplist *came);
/* The channel's link was closed: its receives have failed. */
void zfetch_drop(struct zchannel *);

#endif
