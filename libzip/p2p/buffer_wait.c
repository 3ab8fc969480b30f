/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for room in the attached buffer. See buffer_wait.h. */
#include "libzip/p2p/buffer_wait.h"

#include <time.h>

#include "libzip/progress/progress.h"
#include "libzip/world/attached.h"
#include "libzip/stream/op.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/station.h"
#include "libzip/type/data.h"

/* A message may have been received, and other ranks may know it, before this rank knows. So before the lack of room is
 * an error, the call waits so long for the end of messages that are being received. It does not wait once more before
 * something has become free. */
#define ROOM_WAIT_S 3

struct wanted {
	const struct zattached *of;
	uint64_t bytes;
	struct timespec until;
	bool there;
};

/* Has the receiver begun to take the message, as far as is known? */
static void look_at(struct zop *op, void *ctx)
{
	bool *moves = ctx;

	*moves |= op->in_buffer > 0 && (op->t.granted > 0 || op->t.exposed || op->t.adrift);
}

static bool is_any_received(void)
{
	bool any = false;

	zstation_for_each(0)
		ztransfer_each(zstations_here(), look_at, &any);
	return any;
}

static bool has_ended(void *ctx)
{
	struct wanted *w = ctx;
	struct timespec now;

	w->there = zattached_has_room(w->of, w->bytes);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return w->there || !is_any_received() || now.tv_sec > w->until.tv_sec ||
	       (now.tv_sec == w->until.tv_sec && now.tv_nsec >= w->until.tv_nsec);
}

/* Messages of all stations use the buffer. */
static bool wait_for_room(struct zattached *a, uint64_t bytes)
{
	struct wanted w = {.of = a, .bytes = bytes};

	/* An empty buffer now does not tell that there was room a moment ago. */
	if (bytes > (uint64_t)a->bytes)
		return false;
	zshim_whole();
	const int was = zstation_visit(0);
	clock_gettime(CLOCK_MONOTONIC, &w.until);
	w.until.tv_sec += a->is_full ? 0 : ROOM_WAIT_S;
	zprogress_poll_beside();
	zprogress_wait(has_ended, &w);
	a->is_full = !w.there && is_any_received();
	zstation_return(was);
	return w.there;
}

bool zbuffer_wait(const struct zcomm *c, const void *buf, MPI_Count count, MPI_Datatype type)
{
	struct zdata data;

	return zdata_view(&data, (void *)(uintptr_t)buf, count, type) == MPI_SUCCESS &&
	       wait_for_room(zattached_of(c), data.bytes);
}
