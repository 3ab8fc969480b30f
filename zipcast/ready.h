/* SPDX-License-Identifier: BSD-3-Clause */
/* READY: a receiver tells its neighbours that it has memory for a message, so that nothing is sent before. */
#ifndef ZIPCAST_READY_H
#define ZIPCAST_READY_H

#include "zipcast/group.h"

/* Tells all neighbours that do not know yet, of the message that is arriving, or else of the next one. A neighbour with
 * nothing of the kind to hear gets one READY for no message: all neighbours compare their definitions of the group. The
 * context's thread. */
void zready_say(struct zipcast_group *);

#endif
