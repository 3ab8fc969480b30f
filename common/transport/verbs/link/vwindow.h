/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows of type 2, bound and made invalid on the queue pair of a half. The device does so in the order of the
 * queue, so not before what was sent earlier is acknowledged: mostly that has long been. Where the peer does not answer
 * it is waited for no longer than the caller says, while ports and devices are looked at.
 *
 * Threads: the half's. One window at a time: after -EINPROGRESS the next one has to wait until vwindow_wait says other.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VWINDOW_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VWINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "common/transport/verbs/link/vlink.h"

/* 0: done; -EINPROGRESS: still not after so many milliseconds; others: the half is broken. */
int vwindow_wait(struct vlink *, enum zlink_half, int64_t ms);
/* Binds it to len bytes at base within the region, for the peer to read (ZLINK_TX) or to write (ZLINK_RX): it has its
 * new key then. Returns as vwindow_wait. */
int vwindow_bind(struct vlink *, enum zlink_half, struct ibv_mw *, struct ibv_mr *, void *base, size_t len, int64_t ms);
/* 0, or the half is broken: made so where it is not done in that time. */
int vwindow_unbind(struct vlink *, enum zlink_half, struct ibv_mw *, int64_t ms);

#endif
