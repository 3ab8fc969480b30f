/* SPDX-License-Identifier: BSD-3-Clause */
/* The trunks that hops of this zipperd share, where `trunks` in zipperd.conf says so. Control thread. */
#ifndef ZIPPERD_TRUNK_OPEN_H
#define ZIPPERD_TRUNK_OPEN_H

#include "zipperd/job/circuit.h"

/* The end of a hop is there. The link is the callee's. NULL: rc and err say why there is none.
 * -EPROTONOSUPPORT, -EACCES: the other zipperd knows no trunks, or not this user. */
typedef void trunk_open_done(struct circuit *, struct zlink *, int rc, const struct zerr *err);

/* May this hop be a stream of a trunk? share: as in its REACH. */
bool trunk_open_may(const struct circuit *, uint32_t share);
/* Begins a stream to the zipperd that the hop leads to, on a trunk that is there or is connected now. done may be
 * called at once. 0, or a negative errno with text: done is not called. */
int trunk_open(struct circuit *, uint32_t share, trunk_open_done *done, struct zerr *);
/* A circuit that waits and goes leaves circuit.of_trunk. */

#endif
