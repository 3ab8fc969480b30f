/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP side of the receive half: messages until the direction changes over, and frames (vframe.h). */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VRX_STREAM_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VRX_STREAM_H

#include "common/transport/verbs/link/vlink.h"

/* As poll in transport.h, while messages travel over TCP. */
int vrx_stream_poll(struct vlink *, const struct zsink *, unsigned budget);
/* Afterwards: looks for CLOSE and for the end of the connection. */
void vrx_stream_look(struct vlink *);

#endif
