/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deterministic routing: all bytes of a message take one shortest path. A forwarding table in each switch has one way
 * to each destination, so the destination alone chooses. In a fat tree this is D-mod-K (net/fattree.h).
 */
#ifndef ZIP_MAPPER_ROUTE_DETERMINISTIC_H
#define ZIP_MAPPER_ROUTE_DETERMINISTIC_H

#include "mapper/model/routing.h"

extern const struct routing route_deterministic;

#endif
