/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory and the children of fork. A device goes on with the pages that it was told of. Linux copies such
 * pages for a child at once (and says so since 5.13), so that they stay the parent's. Before, both had the same pages
 * until one of them wrote there, and if that was the parent it got another page: what arrived, and what it sent, was
 * lost.
 *
 * There ibv_fork_init is called. Since then libibverbs keeps registered memory, by whole pages and for as long as it is
 * registered, from children (MADV_DONTFORK): the parent is safe, and a child that touches it crashes. For our buffers,
 * whole pages, that is right. Memory of the application is not kept registered then (expose.h), so only a child that
 * comes during a transfer lacks its pages.
 *
 * A child has no business with the links of its parent in either case.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_CHILD_H
#define ZIP_COMMON_TRANSPORT_VERBS_CHILD_H

#include <stdbool.h>

/* Before a device is opened; again has no effect. One thread at a time. */
void vchild_init(void);
/* Do children have all memory, and the parent still its own? As of vchild_init. */
bool vchild_has_all(void);

#endif
