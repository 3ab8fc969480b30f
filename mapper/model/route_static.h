/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The static routings, which do not look at other traffic.
 *
 * direct (SD): a message is divided evenly among its shortest paths.
 *
 * indirect (SI): each packet goes over a random intermediate router. Loads are the exact expectation.
 *
 * ECMP: each router divides what it gets for a destination evenly among the links that lead on. Where routers have
 * different numbers of paths before them, this is not evenly over all paths.
 */
#ifndef ZIP_MAPPER_ROUTE_STATIC_H
#define ZIP_MAPPER_ROUTE_STATIC_H

#include "mapper/model/routing.h"

extern const struct routing route_static_direct, route_static_indirect, route_static_ecmp;

#endif
