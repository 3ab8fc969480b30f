/* SPDX-License-Identifier: BSD-3-Clause */
/* This host itself: limits, RDMA ports, the clock. One thread. */
#ifndef ZIP_LAUNCH_HOST_H
#define ZIP_LAUNCH_HOST_H

/* Says them all. */
void zhost_say(void);

#endif
