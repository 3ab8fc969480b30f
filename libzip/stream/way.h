/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel that the sequenced messages of a remote rank take, and its list of ranks with messages to post. Under the
 * shim's lock. */
#ifndef ZIP_LIBZIP_WAY_H
#define ZIP_LIBZIP_WAY_H

struct zchannel;
struct zremote;

/* The channel of the next sequenced message to that rank. */
struct zchannel *zway_of(const struct zremote *);
/* The rank has sequenced messages that the link did not take: a later turn tries again. */
void zway_make_ready(struct zremote *);

#endif
