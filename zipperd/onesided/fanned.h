/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers of fan-outs (fanout.h), in the workers of the lanes that lead to them. The caller is the reader itself, or
 * the receiver's worker with what the reader has relayed. Worker's thread. */
#ifndef ZIPPERD_FANNED_H
#define ZIPPERD_FANNED_H

#include "zipperd/lane/relay.h"

/* 0 or -EAGAIN: again later. */
int fanned_take_offer(struct worker *, struct relayed *);
/* 0 or -EAGAIN: again later. */
int fanned_take_piece(struct worker *, const struct relayed *);
void fanned_take_decline(struct worker *, const struct relayed *);

#endif
