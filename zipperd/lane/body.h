/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bodies: payloads that the queues of several destinations share by counting, in any worker with the same first
 * fabric. A body goes back to the pool that it is from: the last holder puts it on the list of that pool's worker.
 */
#ifndef ZIPPERD_BODY_H
#define ZIPPERD_BODY_H

#include <stdint.h>

struct buf;
struct worker;

/* A copy of the payload with one holder. NULL: no memory. */
struct buf *body_create(struct worker *, const void *payload, uint32_t len);
/* One more holder. */
void body_hold(struct buf *);
/* One holder less; w is the calling worker. NULL: no effect. */
void body_put(struct worker *w, struct buf *);
/* Takes back the bodies that other workers have let go. */
void body_collect(struct worker *);

#endif
