/* SPDX-License-Identifier: BSD-3-Clause */
/* The causes that wake a half of a link, other than its own completions. The half's thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VWAKE_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VWAKE_H

#include <stdbool.h>

#include "common/transport/verbs/link/vlink.h"

/* Looks for events of the device and at the send half, through the descriptors of this epoll set. Returns true if the
 * TCP connection has something. */
bool vwake_look(struct vlink *, int epoll);

#endif
