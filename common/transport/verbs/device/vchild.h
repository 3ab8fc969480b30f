/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory and the children of fork. A device keeps using the pages that were registered. Since Linux 5.13,
 * fork copies such pages for the child at once (and the kernel says that it does), so that they stay the parent's.
 * Before, parent and child had the same pages until one of them wrote there. If that was the parent, it got another
 * page: bytes that arrived, and bytes that it sent, were lost.
 *
 * On older kernels ibv_fork_init is called. libibverbs then keeps registered memory from children (MADV_DONTFORK), by
 * whole pages and for as long as it is registered: the parent is safe, and a child that touches the memory crashes.
 * That is right for our buffers, which have whole pages. Memory of the application is not kept registered then
 * (vexpose.h), so only a child that is made during a transfer lacks its pages.
 *
 * In either case a child must not use the links of its parent.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_CHILD_H
#define ZIP_COMMON_TRANSPORT_VERBS_CHILD_H

#include <stdbool.h>

/* To be called before a device is opened; again has no effect. One thread at a time. */
void vchild_init(void);
/* Have children all memory, while the parent keeps its own pages? As vchild_init has found out. */
bool vchild_has_all(void);

#endif
