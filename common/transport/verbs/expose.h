/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The application's memory in one-sided operations. The owner's side: open to the peer of one link for one transfer.
 * The initiator's: known to our own device, for one transfer as well.
 *
 * Registrations are kept (regcache.h) and give access to our own device alone. For a transfer a memory window of type 2
 * is bound to the exact range, on the queue pair of the half concerned, and invalidated afterwards: so the peer reaches
 * these bytes, by this connection, until then. Where a device has no such windows or does not check them, memory cannot
 * be kept registered or must not (child.h), or there are more bytes than a window can have, the exact range is
 * registered with remote access, for this transfer alone.
 *
 * Threads: any; links are their halves' threads', as ever. What is shared is under a lock of our own.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_EXPOSE_H
#define ZIP_COMMON_TRANSPORT_VERBS_EXPOSE_H

#include "common/transport/verbs/link.h"

struct vexposer; /* of a protection domain: its registrations and windows */

/* As in transport.h. The key: address (8 bytes) and rkey (4), little-endian, and zeros. */
int vexpose(struct zlink *, enum zlink_half, void *base, size_t len, struct zrma_exposure *);
void vconceal(struct zlink *, struct zrma_exposure *);
/* Of a link that is closed, after its queue pairs. */
void vexpose_fini(struct vlink *);
int vpin(struct zlink *, enum zlink_half, void *base, size_t len, struct zregion **);
void vunpin(struct zregion *);
/* Its protection domain is about to go. NULL has no effect. */
void vexposer_close(struct vexposer *);

#endif
