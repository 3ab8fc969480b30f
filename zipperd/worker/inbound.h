/* SPDX-License-Identifier: BSD-3-Clause */
/* The intake of relays (relay.h): hands what other workers have pushed to the module that it is for. Worker's thread.
 */
#ifndef ZIPPERD_INBOUND_H
#define ZIPPERD_INBOUND_H

#include <stdbool.h>

struct worker;

/* Once a round. true: something moved. */
bool inbound_turn(struct worker *);
/* Is something left in the relays, or kept for them? */
bool inbound_waits(struct worker *);
/* All threads have ended: gives back all that is in the relays. */
void inbound_drain(struct worker *);

#endif
