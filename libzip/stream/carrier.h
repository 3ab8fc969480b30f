/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The carrier: the channel (zchannel_carrier) by which this rank posts messages for several receivers, and the list of
 * receivers that its zipperd has at the moment (wire.h, RECEIVERS). Only station 0 has one. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_CARRIER_H
#define ZIP_LIBZIP_CARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct zremote;

/* Can that rank have messages by lists? It is reached by zippers, and the carrier's zipper carries to its part. */
bool zcarrier_reaches(const struct zremote *);
/* The entry for that rank; with it goes our acknowledgement. */
struct zwire_receiver zcarrier_receiver(const struct zremote *, uint64_t seq, uint64_t xfer);
/* Posts a list of n receivers, which stays until the next one. whose: any address that names the list's owner; NULL:
 * nobody will ask for it. 0 or -EAGAIN. */
int zcarrier_post_list(const struct zwire_receiver *list, int n, const void *whose);
/* Is the present list that owner's? */
bool zcarrier_is_listed(const void *whose);
/* The owner may be gone, or its list has changed: the present list is nobody's. */
void zcarrier_unlist(const void *whose);
/* The carrier is another channel, whose zipperd has no list yet. */
void zcarrier_forget(void);
/* Posts to the receivers of the list. xfer: of the message itself (wire.h). 0 or -EAGAIN. */
int zcarrier_post_message(struct zwire_env *, uint64_t xfer, const void *payload);
/* Posts to that one rank, with a list of one. 0 or -EAGAIN. */
int zcarrier_post_one(struct zremote *, struct zwire_env *, const void *payload);

#endif
