/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of sending and of receiving over all channels of this station. Under the shim's lock. */
#ifndef ZIP_LIBZIP_TURN_H
#define ZIP_LIBZIP_TURN_H

#include <stdbool.h>

struct zstation;

/* This thread waits and shares its core: perhaps with the process that forwards its fragments. It posts few fragments
 * in a turn, so that the other process has its turn soon. Set by the wait loop around a turn. */
extern __thread bool zturn_shares __attribute__((tls_model("initial-exec")));
/* A turn has had fragments to post. The wait loop clears it. */
extern __thread bool zturn_posted __attribute__((tls_model("initial-exec")));

/* Both return whether anything happened. */
bool zturn_send(struct zstation *);
bool zturn_recv(struct zstation *);

#endif
