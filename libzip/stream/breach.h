/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that break the protocol, or that refuse a channel. The module that finds one says what is wrong with it, and
 * the end of its channel is told with that and with the sender.
 */
#ifndef ZIP_LIBZIP_BREACH_H
#define ZIP_LIBZIP_BREACH_H

#include <stdint.h>

#include "common/wire/wire.h"

struct zchannel;
struct zremote;

#define ZBREACH_BYTES 256

/* A message of that rank breaks the protocol. what: lives for ever, reads as "...: what". Returns -EPROTO. */
int zbreach(const struct zremote *from, const char *what);
/* The message that has come over this channel was refused: keeps the text for zbreach_find. Returns -EPROTO. payload:
 * [env->len]. */
int zbreach_note(const struct zchannel *, const struct zwire_env *, const void *payload);
/* The text about the message that ended this station's channel with -EPROTO; NULL: there is none, and what came was no
 * message. */
const char *zbreach_find(const struct zchannel *);

#endif
