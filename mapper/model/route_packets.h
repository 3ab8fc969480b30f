/* SPDX-License-Identifier: BSD-3-Clause */
/* Static indirect routing as the paper computes it (SIP): packet by packet, each over a random intermediate router. The
 * result differs from the expectation (SI) by noise, which falls with the square root of the packets on a link. */
#ifndef ZIP_MAPPER_ROUTE_PACKETS_H
#define ZIP_MAPPER_ROUTE_PACKETS_H

#include "mapper/model/routing.h"

extern const struct routing route_packets_indirect;

#endif
