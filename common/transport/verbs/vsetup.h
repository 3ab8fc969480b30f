/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting up a link: the choice of ports, queue pairs, and telling the peer. settle and its parts as in transport.h.
 * The set-up thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_VSETUP_H
#define ZIP_COMMON_TRANSPORT_VERBS_VSETUP_H

#include "common/transport/verbs/link/vlink.h"

/* The connecting end, with the endpoint of the process. */
int vsetup_connecting(struct vlink *, struct zerr *);
int vsetup_settle(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
int vsetup_begin(struct zlink *, struct zendpoint *rx, struct zendpoint *tx, struct zerr *);
void vsetup_wait(struct zlink *, struct zerr *);
int vsetup_end(struct zlink *, struct zerr *);
/* Frees what a link has besides its TCP connection. The link is drained, or has no queue pairs. */
void vsetup_undo(struct vlink *);

#endif
