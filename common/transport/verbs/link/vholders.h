/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send halves that hold more buffers than they own. Their sends may be complete without anybody having looked, as
 * nobody asks a link again that has gone quiet. So a send half that finds no buffer looks at all holders. All are
 * halves of one thread, the pool's owner. A half that ends leaves the list first, which another thread does; hence the
 * lock, which is not taken while there are buffers.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VHOLDERS_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VHOLDERS_H

#include <stdbool.h>

#include "common/transport/verbs/link/vlink.h"

/* The half has more buffers than its own from now on. */
void vholders_add(struct vlink *);
/* Takes the completions of all other holders. Returns whether this half may have a buffer now. */
bool vholders_reap(struct vlink *);
/* Another thread is about to close the link. */
void vholders_del(struct vlink *);

#endif
