/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stations of this rank. A station has its own data channels, streams, matching, transfers and free lists.
 * Stations share only state that no thread changes while the job runs. A spanning communicator belongs to one station,
 * the same in all members (zstation_of_comm); its point-to-point messages leave and arrive there. Station 0 is that of
 * the world and of everything else: collectives, and the library's own messages.
 *
 * stream/ and bridge/ pass the state of a station as an argument (struct zstation, stations.h). The modules below them,
 * which everybody calls (pool.h, req.h, type.h), keep an array with an element for each station, and use that of
 * zstation_here.
 *
 * A thread that has entered the library as a whole (shim.h) works at station 0. It visits another station while it
 * touches something that lives there: a request, a stream. A thread that has entered at a station stays there.
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

extern int zstation_n;	  /* number of stations, 1 or more; the same in all ranks */
extern int zstation_bits; /* bits of a station's index */
extern __thread int zstation_here __attribute__((tls_model("initial-exec"))); /* the station of this thread */

/* Sets the number of stations. In MPI_Init, before any other use. */
void zstation_init(int n);

/* Goes to a station. Returns the one where the thread was, for zstation_return. */
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
/* Runs the statement that follows at each station, from `first` on. For a thread that has the library as a whole.
 * Never left but at its end: no break, return or goto. */
#define zstation_for_each(first)                                                                                       \
	for (int zstation_was = zstation_visit(first);                                                                 \
		zstation_here < zstation_n || (zstation_return(zstation_was), false); zstation_here++)

/* The station of a spanning communicator, by its id. New communicators take the stations behind the first in turns. */
static inline int zstation_of_comm(uint64_t id)
{
	uint64_t number = id >> 2 & 0x3fffffffu; /* number among its maker's communicators, from 1; 0: the world */

	return zstation_n == 1 || number == 0 ? 0 : 1 + (int)((number - 1) % (uint64_t)(zstation_n - 1));
}

#endif
