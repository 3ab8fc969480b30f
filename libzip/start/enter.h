/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the wrappers of class own enter the library, and leave it again. They enter it as a whole. Under
 * MPI_THREAD_MULTIPLE with several stations they enter one station, if everything that the call concerns is there.
 * Results never depend on the choice: where it is not clear, a wrapper enters the whole.
 */
#ifndef ZIP_LIBZIP_ENTER_H
#define ZIP_LIBZIP_ENTER_H

#include "libzip/world/comm.h"
#include "libzip/p2p/completion.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/world/req.h"
#include "libzip/world/handlers.h"
#include "libzip/shim/shim.h"
#include "libzip/bridge/op_start.h"

/* All return the station where the thread worked before, for zleave. */

static inline int zenter(void)
{
	zshim_enter();
	return zstation_visit(0);
}

static inline void zleave(int was)
{
	zstation_return(was);
	zshim_leave();
}

/* station 0: the whole library. Where error handlers differ, they are hushed during native calls by one thread at a
 * time, so the thread enters the whole, too. */
static inline int zenter_at(int station)
{
	if (station == 0 || !zshim_threaded || zhandlers_differ)
		return zenter();
	zshim_enter_at(station);
	return zstation_visit(zshim_at);
}

/* For a point-to-point call on this communicator. */
static inline int zenter_comm(MPI_Comm handle)
{
	return __builtin_expect(zstation_n == 1, 1) ? zenter() : zenter_at(zcomm_hint(handle));
}

/* For a call that completes or starts these requests. */
int zenter_several(int n, const MPI_Request *); /* [n] */
static inline int zenter_requests(int n, const MPI_Request *requests)
{
	return __builtin_expect(zstation_n == 1, 1) ? zenter() : zenter_several(n, requests);
}

#endif
