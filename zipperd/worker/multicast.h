/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to several ranks (wire.h, RECEIVERS). A rank posts one message with the list of its receivers, and no rank's
 * processor has to relay the message. The RDMC paper offloads such a schedule to the network adapter (section 4.4);
 * here zipperd does that work.
 *
 * Each receiver gets a message of its own, as if the rank had sent it to that receiver alone, by the same rules.
 * Queues, shares, refusals and counters are per receiver, so that no receiver waits for another. Receivers whose links
 * have room get the message straight from the memory of the source's transport. For the others the payload is copied
 * once, into a body (body.h), which their queues share.
 *
 * Receivers in other parts than that of this channel belong to other workers with the same first fabric, or to this
 * worker where these parts come by the same fabric. They get the message and its body by a relay (relay.h).
 *
 * A message that cannot be handed to all receivers now is refused to the transport, as any other message, and goes on
 * with the next receiver when the transport shows it again. Worker's thread.
 */
#ifndef ZIPPERD_MULTICAST_H
#define ZIPPERD_MULTICAST_H

#include "zipperd/lane/half.h"
#include "zipperd/lane/relay.h"

/* A list of receivers, or a message to the receivers of the list. As forward_take. */
int multicast_take(struct source *, const struct zwire_env *, const void *payload);
/* A message that another worker has relayed. 0 or -EAGAIN. */
int multicast_take_relayed(struct worker *, struct relayed *);

#endif
