/* SPDX-License-Identifier: BSD-3-Clause */
/* How the send half sleeps, and which thread notices its errors while it does not. The send half's thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_SLEEP_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_SLEEP_H

#include "common/transport/verbs/link/vlink.h"

/* As arm in transport.h, for ZLINK_TX. */
int vtx_sleep_arm(struct vlink *);
/* Everything has been sent: from now on the receive half's thread is told of errors. Returns 0, or why the half is
 * broken. */
int vtx_sleep_expect_errors(struct vlink *);

#endif
