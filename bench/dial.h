/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP connections of the relays that are programs of their own. A function that fails ends the program. */
#ifndef ZIP_BENCH_DIAL_H
#define ZIP_BENCH_DIAL_H

#include "common/transport/base/addr.h"

/* Parses tcp:HOST[:PORT]. */
void dial_parse(struct zaddr *, const char *text);
/* Returns a connected socket. */
int dial_connect(const struct zaddr *);
/* Returns a listening socket; fills in the port if it is 0. */
int dial_listen(struct zaddr *);
/* Returns the socket of the first connection, and closes the listener. */
int dial_accept(int listener);

#endif
