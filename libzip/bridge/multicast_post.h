/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages that a multicast posts once for all receivers that can have them together: a small message, or the offer
 * of a large one, an RTS with the key to the bytes, which zipperd then reads once for all. See multicast.h.
 */
#ifndef ZIP_LIBZIP_MULTICAST_POST_H
#define ZIP_LIBZIP_MULTICAST_POST_H

#include <stdbool.h>

struct zmulticast;

/* Begins with these receivers. MPI_SUCCESS or an error class. */
int zmulticast_post_start(struct zmulticast *, const int *dest);
/* Posts what waits, if it can. Returns whether anything happened. */
bool zmulticast_post_turn(struct zmulticast *);

#endif
