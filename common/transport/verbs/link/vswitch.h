/* SPDX-License-Identifier: BSD-3-Clause */
/* The send half changes over from the TCP connection to its queue pair. The send half's thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VSWITCH_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VSWITCH_H

#include "common/transport/verbs/link/vlink.h"

/* Returns 0: messages go by the queue pair from now on; 1: over TCP still; negative: not now (-EAGAIN), or broken. */
int vswitch_change_over(struct vlink *);

#endif
