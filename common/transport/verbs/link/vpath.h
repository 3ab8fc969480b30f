/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a link's queue pairs, and the way to the peer's queue pairs. Set-up, with the exception of give_up. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VPATH_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VPATH_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/transport/verbs/link/vlink.h"

/* Prepares the queue pairs, once they are made. */
int vpath_open(struct vlink *, struct zerr *);
/* The number of one-sided reads that may be under way, as far as this end is concerned. */
uint16_t vpath_reads(const struct vlink *);
/* Can packets go to the peer's address? 0 or a negative errno with text. */
int vpath_check(const struct vlink *, struct zerr *);
/* Connects our send half's queue pair with the peer's receive half's, and the other two. Returns 0, a negative errno
 * with text, or VPATH_NONE: the network has no way to the peer's GID (RoCE), and a warning has said so. Then the queue
 * pairs are of no use, and messages can stay with TCP. */
#define VPATH_NONE 1
int vpath_connect(struct vlink *, const struct vframe *us, struct zerr *);
/* The connecting end, when ANSWER has come: connects the queue pairs, and the link is ready. Returns 0, VPATH_NONE or a
 * negative errno. */
int vpath_answer(struct vlink *);

/* Puts a queue pair into its error state, so that it reports all that is under way. For a broken queue pair, or one
 * whose peer has gone. Any thread. */
void vpath_give_up(struct ibv_qp *);

#endif
