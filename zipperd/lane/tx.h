/* SPDX-License-Identifier: BSD-3-Clause */
/* Full links that a worker leaves to epoll. Worker's thread. */
#ifndef ZIPPERD_TX_H
#define ZIPPERD_TX_H

struct dest;
struct tx;
struct worker;

/* Arms the destination's full link and leaves it to epoll, unless there is room after all. */
void tx_cool(struct worker *, struct dest *);
/* The worker tries the link itself again. */
void tx_warm(struct worker *, struct dest *);
/* Takes the link out of the epoll set. */
void tx_unwatch(struct worker *, struct tx *);

#endif
