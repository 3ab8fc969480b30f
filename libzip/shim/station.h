/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stations of this rank. Each has its own data channels, streams, matching, transfers and free lists, and shares
 * no state with the others but what is read only while the job runs. A spanning communicator belongs to one of them,
 * the same in all members (zstation_of_comm): what goes point-to-point on it leaves and comes there. Station 0 is that
 * of the world, and of everything else: collectives, what the library says to itself.
 *
 * Modules that have state for each keep an array, and call this thread's element self:
 *
 *     static struct { ... } stations[ZSTATIONS_MAX];
 *     #define self (stations[zstation_here])
 *
 * A thread that has entered the library as a whole (shim.h) works at station 0, and visits another one for as long as
 * it touches something of that: a request, a stream. One that has entered at a station stays there.
 *
 * Source: virtual communication interfaces of MPICH; Zambre et al., "Scalable Communication Endpoints for MPI+Threads
 * Applications", section I.
 */
#ifndef ZIP_LIBZIP_STATION_H
#define ZIP_LIBZIP_STATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"

#define ZSTATIONS_MAX ((int)ZCTL_ENDPOINTS_MAX)

extern int zstation_n;	  /* how many there are, 1 or more; the same in all ranks */
extern int zstation_bits; /* that a number of one has */
extern __thread int zstation_here __attribute__((tls_model("initial-exec"))); /* where this thread works */

/* MPI_Init, before anything else is done at any of them. */
void zstation_init(int n);

/* Goes there; returns where the thread was, for zstation_return. */
static inline int zstation_visit(int station)
{
	int was = zstation_here;

	zstation_here = station;
	return was;
}
static inline void zstation_return(int was)
{
	zstation_here = was;
}
/* What follows is done at each of them, from this one on, by who has the library as a whole. It is never left but at
 * its end: no break, return or goto. */
#define zstation_for_each(first)                                                                                       \
	for (int zstation_was = zstation_visit(first);                                                                 \
		zstation_here < zstation_n || (zstation_return(zstation_was), false); zstation_here++)

/* That of a spanning communicator other than the world, by its id: those that are made take the stations behind the
 * first in turns. */
static inline int zstation_of_comm(uint64_t id)
{
	uint64_t number = id >> 2 & 0x3fffffffu; /* of its maker's, from 1; 0: the world */

	return zstation_n == 1 || number == 0 ? 0 : 1 + (int)((number - 1) % (uint64_t)(zstation_n - 1));
}

#endif
