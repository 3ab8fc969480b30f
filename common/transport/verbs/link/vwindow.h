/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows of type 2, which are bound and made invalid on the queue pair of a half. The device works in the order
 * of the queue, so it waits until earlier sends are acknowledged; in most cases they have been for long. Where the peer
 * does not answer, the device is waited for no longer than the caller says; meanwhile ports and devices are looked at.
 *
 * Threads: the half's. One window at a time: after -EINPROGRESS the next window has to wait until vwindow_wait returns
 * something else.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VWINDOW_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VWINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "common/transport/verbs/link/vlink.h"

/* Waits for the device. Returns 0: done; -EINPROGRESS: not done after so many milliseconds; others: the half is broken.
 */
int vwindow_wait(struct vlink *, enum zlink_half, int64_t ms);
/* Binds a window to len bytes at base within the region, for the peer to read (ZLINK_TX) or to write (ZLINK_RX). The
 * window has its new key then. Returns as vwindow_wait. */
int vwindow_bind(struct vlink *, enum zlink_half, struct ibv_mw *, struct ibv_mr *, void *base, size_t len, int64_t ms);
/* Makes a window invalid. Returns 0, or why the half is broken; it is made so where the device is not done in that
 * time. */
int vwindow_unbind(struct vlink *, enum zlink_half, struct ibv_mw *, int64_t ms);

#endif
