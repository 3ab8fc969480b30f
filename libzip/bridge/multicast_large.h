/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages of a multicast: offered and granted one by one, sent together. See multicast.h. */
#ifndef ZIP_LIBZIP_MULTICAST_LARGE_H
#define ZIP_LIBZIP_MULTICAST_LARGE_H

#include <stdbool.h>

struct zmulticast;

/* Begins with this receiver. */
void zmulticast_large_start(struct zmulticast *, int dest);
/* Parts from slow receivers. Returns whether anything happened. */
bool zmulticast_large_turn(struct zmulticast *);

#endif
