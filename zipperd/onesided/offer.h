/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreeing on a one-sided transfer (transfer.h): the sender's offer and the receiver's answer. Worker's thread. */
#ifndef ZIPPERD_OFFER_H
#define ZIPPERD_OFFER_H

#include "zipperd/lane/half.h"
#include "zipperd/lane/ports.h"
#include "zipperd/lane/relay.h"

/* An RTS with a key has come. true: it is kept, and the receiver may be offered the transfer; false: it is to be
 * forwarded as a plain RTS. */
bool offer_take(struct source *, struct dest *, const struct zwire_env *, const uint8_t key[ZRMA_KEY_BYTES]);
/* Checks and forwards the RTS, already without the key, to one receiver of a fan-out, in the lane that leads to it.
 * 1: the receiver is offered the transfer; 0: it is not, and has nothing to do with the fan-out; -EAGAIN: later.
 * -ENOBUFS is not returned. */
int offer_fanned(struct lane *, const struct zwire_env *, const struct fan *);
/* The receiver's CTS with a key, from the opposite worker. 0 or -EAGAIN: no room, again later. */
int offer_accept(struct worker *, struct dest *, const struct note *);
/* The receiver's CTS without a key, from the opposite worker. 0 or -EAGAIN: no room, again later. */
int offer_withdraw(struct worker *, struct dest *, const struct note *);

#endif
