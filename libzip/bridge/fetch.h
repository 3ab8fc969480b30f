/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages over a direct link whose transport has one-sided operations (transport.h): the sender exposes its
 * bytes, as to zipperd, and names them in its RTS; the receiver reads them to where they belong, and says DONE. The
 * sender does nothing meanwhile, nobody copies. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FETCH_H
#define ZIP_LIBZIP_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/bridge/op.h"

struct zchannel;

/* The receive op (remote, total and its memory set) begins to read what the key opens. False: it cannot. */
bool zfetch_start(struct zop *op, const uint8_t key[ZRMA_KEY_BYTES]);
/* Goes on with all of a channel, which has some: > 0: something happened; 0; or why its link is broken. */
int zfetch_turn(struct zchannel *);
/* Its link was closed: they have failed. */
void zfetch_drop(struct zchannel *);

#endif
