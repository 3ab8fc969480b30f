/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a link, in steps that do not wait: all posted messages are acknowledged, CLOSE is said, and the receives
 * that its queue has taken from those of other links are given back; or it is too late for that. See drain in
 * transport.h. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_VDRAIN_H
#define ZIP_COMMON_TRANSPORT_VERBS_VDRAIN_H

#include "common/transport/verbs/link/vlink.h"

int vdrain(struct zlink *);
void vdrain_stop_sending(struct zlink *);
/* Waits until vdrain returns something else than -EAGAIN. */
void vdrain_wait(struct vlink *);

#endif
