/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive half of a link. poll, arm and unplace as in transport.h. The receive half's thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VRX_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VRX_H

#include <stdbool.h>

#include "common/transport/verbs/link/vlink.h"

int vrx_init(struct vlink *, struct zerr *);
void vrx_fini(struct vlink *);
int vrx_poll(struct zlink *, const struct zsink *, unsigned budget);
int vrx_arm(struct vlink *);
int vrx_unplace(struct zlink *);
/* Takes completions. Returns 0, or why no more messages will come. */
int vrx_reap(struct vlink *);
/* The link closes, and messages of this end are still on their way: has the peer sent more than it may? */
bool vrx_is_greedy(struct vlink *);
/* The link closes: the queue pair shall take no more receives from those of other links. Returns true if the device
 * must be waited for until it has stopped. */
bool vrx_stop(struct vlink *);

#endif
