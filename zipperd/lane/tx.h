/* SPDX-License-Identifier: BSD-3-Clause */
/* Full links that a worker leaves to epoll. Worker's thread. */
#ifndef ZIPPERD_TX_H
#define ZIPPERD_TX_H

#include "zipperd/lane/worker.h"

/* Arms the destination's full link and leaves it to epoll, unless there is room after all. */
void tx_cool(struct worker *, struct dest *);
/* The worker tries the link itself again. */
static inline void tx_warm(struct worker *w, struct dest *d)
{
	w->cold_txs -= d->cold;
	d->cold = false;
}
/* Takes the link out of the epoll set. */
void tx_unwatch(struct worker *, struct tx *);

#endif
