/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP connections of the relays that are programs of their own. All end the program where they fail. */
#ifndef ZIP_BENCH_DIAL_H
#define ZIP_BENCH_DIAL_H

#include "common/transport/base/addr.h"

/* tcp:HOST[:PORT] */
void dial_parse(struct zaddr *, const char *text);
/* A connected socket. */
int dial_connect(const struct zaddr *);
/* Writes the port in if it is 0. */
int dial_listen(struct zaddr *);
/* The first one that connects; closes the listener. */
int dial_accept(int listener);

#endif
