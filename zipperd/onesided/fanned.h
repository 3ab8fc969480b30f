/* SPDX-License-Identifier: BSD-3-Clause */
/* One receiver of a fan-out (fanout.h): the offer to it, pieces for it, and the end of the fan-out for it. Its worker's
 * thread. If its worker is not the reader, inbound.c calls these functions with the reader's relayed words. */
#ifndef ZIPPERD_FANNED_H
#define ZIPPERD_FANNED_H

#include "zipperd/lane/relay.h"

/* 0 or -EAGAIN: again later. */
int fanned_take_offer(struct worker *, struct relayed *);
/* 0 or -EAGAIN: again later. */
int fanned_take_piece(struct worker *, const struct relayed *);
void fanned_take_decline(struct worker *, const struct relayed *);

#endif
