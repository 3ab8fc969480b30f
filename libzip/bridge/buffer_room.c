/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the attached buffer bridged messages would have in use. */
#include "libzip/p2p/buffer.h"

#include <time.h>

#include "libzip/shim/station.h"
#include "libzip/bridge/op.h"
#include "libzip/progress/progress.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/shim/shim.h"

MPI_Count zbuffer_attached;

/* A message may have been received, and others may know, before we do. So before it is an error that there is no room,
 * the end of those that are being received is waited for, for so long; and not once more before something has become
 * free. */
#define ROOM_WAIT_S 3

static _Atomic MPI_Count in_use; /* by bridged messages */
static _Atomic bool full;	 /* it has been waited in vain */

struct wanted {
	uint64_t bytes;
	struct timespec until;
	bool there;
};

static bool is_there(uint64_t bytes)
{
	return zbuffer_attached > 0 && (uint64_t)in_use + bytes <= (uint64_t)zbuffer_attached;
}

/* Has its receiver begun to take it, as far as can be known? */
static void look_at(struct zop *op, void *ctx)
{
	bool *moves = ctx;

	*moves |= op->in_buffer > 0 && (op->granted > 0 || op->exposed || op->adrift);
}

static bool is_any_received(void)
{
	bool any = false;

	zstation_for_each(0) ztransfer_each(look_at, &any);
	return any;
}

static bool has_ended(void *ctx)
{
	struct wanted *w = ctx;
	struct timespec now;

	w->there = is_there(w->bytes);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return w->there || !is_any_received() || now.tv_sec > w->until.tv_sec ||
	       (now.tv_sec == w->until.tv_sec && now.tv_nsec >= w->until.tv_nsec);
}

/* Messages of all stations use it. */
static __attribute__((noinline)) bool wait_for_room(uint64_t bytes)
{
	struct wanted w = {.bytes = bytes};

	/* Whether anything is in it now says nothing of the moment when there was no room. */
	if (bytes > (uint64_t)zbuffer_attached)
		return false;
	zshim_whole();
	const int was = zstation_visit(0);
	clock_gettime(CLOCK_MONOTONIC, &w.until);
	w.until.tv_sec += full ? 0 : ROOM_WAIT_S;
	zprogress_poll_beside();
	zprogress_wait(has_ended, &w);
	full = !w.there && is_any_received();
	zstation_return(was);
	return w.there;
}

bool zbuffer_has_room(uint64_t bytes)
{
	return is_there(bytes) || wait_for_room(bytes);
}

/* Small messages that go at once into the stream to their receiver are not counted: what may be in that is limited. */
void zbuffer_take(struct zop *op)
{
	if (op->mode != ZSEND_BUFFERED)
		return;
	op->in_buffer = (MPI_Count)op->data.bytes + MPI_BSEND_OVERHEAD;
	in_use += op->in_buffer;
}

void zbuffer_give(struct zop *op)
{
	if (op->in_buffer == 0)
		return;
	in_use -= op->in_buffer;
	op->in_buffer = 0;
	full = false;
}
