/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoints of this rank. Each has its own data channels, streams, matching, transfers and free lists, and shares
 * no state with the others but what is read only while the job runs. A spanning communicator belongs to one of them,
 * the same in all members (zend_of_comm): what goes point-to-point on it leaves and comes there. Endpoint 0 is that of
 * the world, and of everything else: collectives, what the library says to itself.
 *
 * Modules that have state for each keep an array, and call this thread's element self:
 *
 *     static struct { ... } ends[ZENDS_MAX];
 *     #define self (ends[zend_here])
 *
 * A thread that has entered the library as a whole (shim.h) works at endpoint 0, and visits another one for as long as
 * it touches something of that: a request, a stream. One that has entered at an endpoint stays there.
 *
 * Source: virtual communication interfaces of MPICH; Zambre et al., "Scalable Communication Endpoints for MPI+Threads
 * Applications", section I.
 */
#ifndef ZIP_LIBZIP_ENDPOINT_H
#define ZIP_LIBZIP_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/control.h"
#include "common/wire/wire.h"
#include "libzip/world/world.h"

#define ZENDS_MAX ((int)ZCTL_ENDPOINTS_MAX)

extern int zend_n;    /* how many there are, 1 or more; the same in all ranks */
extern int zend_bits; /* that a number of one has */
extern __thread int zend_here __attribute__((tls_model("initial-exec"))); /* where this thread works */

/* MPI_Init, before anything else is done at any of them. */
void zend_init(int n);

/* Goes there; returns where the thread was, for zend_return. */
static inline int zend_visit(int endpoint)
{
	int was = zend_here;

	zend_here = endpoint;
	return was;
}
static inline void zend_return(int was)
{
	zend_here = was;
}
/* What follows is done at each of them, from this one on, by who has the library as a whole. It is never left but at
 * its end: no break, return or goto. */
#define zend_for_each(first)                                                                                           \
	for (int zend_was = zend_visit(first); zend_here < zend_n || (zend_return(zend_was), false); zend_here++)

/* The number by which envelopes name this endpoint of a rank (wire.h), and back: ZWIRE_NOBODY if it is none. */
static inline uint32_t zend_station(uint32_t vrank)
{
	return (uint32_t)zend_here * (uint32_t)zworld.nranks + vrank;
}
static inline uint32_t zend_vrank(uint32_t station)
{
	uint32_t vrank = station - (uint32_t)zend_here * (uint32_t)zworld.nranks;

	return vrank < (uint32_t)zworld.nranks ? vrank : ZWIRE_NOBODY;
}

/* That of a spanning communicator other than the world, by its id: those that are made take the endpoints behind the
 * first in turns. */
static inline int zend_of_comm(uint64_t id)
{
	uint64_t number = id >> 2 & 0x3fffffffu; /* of its maker's, from 1; 0: the world */

	return zend_n == 1 || number == 0 ? 0 : 1 + (int)((number - 1) % (uint64_t)(zend_n - 1));
}

#endif
