/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The application's memory in one-sided operations. The owner opens it to the peer of one link for one transfer. The
 * initiator registers it with our own device, for one transfer as well.
 *
 * Registrations are kept (vregcache.h) and give access to our own device alone. For a transfer a memory window of type
 * 2 is bound to the exact range, on the queue pair of the half, and invalidated afterwards. So the peer reaches these
 * bytes, by this connection, until then. Otherwise the exact range is registered with remote access, for this transfer
 * alone: where a device has no such windows or does not check them, where memory cannot or must not be kept registered
 * (vchild.h), or where there are more bytes than a window can have.
 *
 * Threads: any; a link's half is its thread's. A lock of vexposer.c protects shared state.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VEXPOSE_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VEXPOSE_H

#include <stddef.h>

#include "common/transport/verbs/link/vlink.h"

/* expose and conceal as in transport.h. The key: address (8 bytes) and rkey (4 bytes), little-endian, and zeros. */
int vexpose(struct zlink *, enum zlink_half, void *base, size_t len, struct zrma_exposure *);
void vexpose_conceal(struct zlink *, struct zrma_exposure *);
/* pin and unpin as in transport.h. */
int vexpose_pin(struct zlink *, enum zlink_half, void *base, size_t len, struct zregion **);
void vexpose_unpin(struct zregion *);
/* The link is closed; its queue pairs are destroyed already. */
void vexpose_fini(struct vlink *);

#endif
