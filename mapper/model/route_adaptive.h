/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive routings: a message is divided among its paths in proportion to the bandwidth that it gets on them.
 *
 * direct (AD): the shortest paths. Where a pair has more than ROUTING_PATHS_MAX of them (fat trees), that many are
 * drawn once for the pair.
 *
 * indirect (AI): paths over random intermediate routers, drawn anew in every iteration.
 *
 * hybrid (AH): some shortest paths (two in the paper), and indirect ones.
 *
 * local (AL): the same paths as AH, but the first router knows only its own links, as with UGAL-L. (Kim, Dally, Scott,
 * Abts: "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, section 4; their UGAL-G knows all queues,
 * as AH does.)
 */
#ifndef ZIP_MAPPER_ROUTE_ADAPTIVE_H
#define ZIP_MAPPER_ROUTE_ADAPTIVE_H

#include "mapper/model/routing.h"

extern const struct routing route_adaptive_direct, route_adaptive_indirect, route_adaptive_hybrid, route_adaptive_local;

#endif
