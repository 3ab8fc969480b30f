/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of links (transport.h): the set of Verbs resources that one thread has on all devices. The endpoint of a
 * thread is made by the set-up thread. vshare.h has what it holds on each device.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VENDPOINT_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VENDPOINT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/transport/base/transport.h"

int vendpoint_open(struct zendpoint **, struct zerr *);
void vendpoint_close(struct zendpoint *); /* NULL has no effect */
/* Is memory pinned or registered that keeps the endpoint's devices? */
bool vendpoint_has_regions(const struct zendpoint *);

#endif
