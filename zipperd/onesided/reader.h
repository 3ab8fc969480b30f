/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of fan-outs (fanout.h): offers, rounds, and pieces that are read once and handed to all receivers.
 * Worker's thread. */
#ifndef ZIPPERD_READER_H
#define ZIPPERD_READER_H

#include "zipperd/lane/fanout.h"

/* Offers the fan-out to one more receiver. env: the RTS to it, still with the length of the key. 0 or -EAGAIN: later.
 */
int reader_offer(struct fanout *, uint32_t receiver, const struct zwire_env *);
/* A piece has been read, or reading it has failed. */
void reader_came_in(struct worker *, struct piece *, int rc);
/* Once a round. true: something moved. */
bool reader_turn(struct worker *);
/* All threads have ended, and all workers have given back their pieces. */
void reader_fini(struct worker *);

#endif
