/* SPDX-License-Identifier: BSD-3-Clause */
/* The credit that a receive half gives to its sender. The receive half's thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VCREDIT_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VCREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/transport/verbs/link/vlink.h"

/* Posts free buffers again and gives the sender credit, if there is reason to. Returns 0, or why the half is broken. */
int vcredit_grant(struct vlink *);
/* The same after a look for messages, which has found `burst` of them at once. delivered: messages were delivered, for
 * which somebody waits; then credit that can wait is not given now. */
int vcredit_renew(struct vlink *, bool delivered, uint32_t burst);

#endif
