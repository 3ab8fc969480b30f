/* SPDX-License-Identifier: BSD-3-Clause */
/* A message and its receive meet: the payload is copied, a transfer begins, or the receives of strands begin. Under the
 * shim's lock. */
#ifndef ZIP_LIBZIP_DELIVER_H
#define ZIP_LIBZIP_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

struct zop;
struct zqueued;
struct zremote;

/* A receive starts: takes an unexpected message, or is posted. */
void zdeliver_start(struct zop *);
/* Only the first half. True: there was a message for it. */
bool zdeliver_try(struct zop *);
/* Gives a message that a matched probe has detached to a receive, and frees the message. */
void zdeliver_detached(struct zqueued *, struct zop *);
/* The announcement of total bytes in strands (strands.h) has been matched with op. xfer and flags are those of its
 * envelope. */
void zdeliver_strands(struct zop *, struct zremote *from, uint64_t xfer, int tag, uint16_t flags, uint64_t total);

#endif
