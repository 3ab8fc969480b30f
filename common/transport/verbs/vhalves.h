/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues and buffers of a link's halves: as many buffers as there is memory for. The set-up thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_VHALVES_H
#define ZIP_COMMON_TRANSPORT_VERBS_VHALVES_H

#include "common/transport/verbs/link/vlink.h"

/* Makes them, once the halves have joined their shares. Returns 0, a negative errno with text, or VHALVES_NONE: there
 * is not even the least of memory, or the device has no shared receive queue. Then nothing is left behind, and a
 * warning has told it; where nobody listens to warnings it is an error. */
#define VHALVES_NONE 1
int vhalves_make(struct vlink *, struct zerr *);

#endif
