/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge's entry points for collectives and for start and end, see bridge.h. */
#include "libzip/bridge/bridge.h"

#include <time.h>

#include "libzip/bridge/arrival.h"
#include "libzip/p2p/buffer.h"
#include "libzip/bridge/channel.h"
#include "libzip/bridge/direct.h"
#include "libzip/shim/station.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/op.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/shim/pool.h"
#include "libzip/progress/progress.h"
#include "libzip/world/rails.h"
#include "libzip/record/record.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/bridge/strands.h"
#include "libzip/world/world.h"

/* It goes on by itself, with its own copy; the caller gets the request that is done. */
static int start_detached(struct zop *op)
{
	op->req.orphan = true;
	zop_buffered++;
	zbuffer_take(op);
	int rc = zop_start(op);
	if (rc != MPI_SUCCESS) {
		zop_buffered--;
		zbuffer_give(op);
		zreq_release(&op->req);
	}
	return rc;
}

static int station_of(const struct zcomm *c, enum zcomm_context context)
{
	return context == ZCOMM_PT2PT ? c->station : 0;
}

static int isend_here(const struct zop_args *args, enum zsend_mode mode, struct zreq **out)
{
	struct zcomm *c = args->comm;
	struct zop *op;
	int rc;

	struct zremote *r = zremote_get((uint32_t)c->vrank[args->rank]);
	struct zdata data;
	if (r && zdata_view(&data, args->buf, args->count, args->type) == MPI_SUCCESS) {
		if (mode == ZSEND_BUFFERED && !zbuffer_has_room(data.bytes))
			return MPI_ERR_BUFFER;
		if (mode != ZSEND_SYNC && zoutgoing_try_eager(r, c->id | args->context, args->tag, &data)) {
			*out = &zop_sent;
			return MPI_SUCCESS;
		}
		if (__builtin_expect(zstrands_divide(r, args->context, &data, mode), 0))
			return zstrands_send(args, &data, out);
	}
	rc = zop_create(&op, ZOP_SEND, args, false);
	if (rc != MPI_SUCCESS)
		return rc;
	op->mode = mode;
	if (zop_is_detached(op)) {
		*out = &zop_sent;
		return start_detached(op);
	}
	*out = &op->req;
	rc = zop_start(op);
	if (rc != MPI_SUCCESS)
		zreq_release(&op->req);
	return rc;
}

int zbridge_isend(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	int dest, int tag, enum zsend_mode mode, struct zreq **out)
{
	const struct zop_args args = {c, context, (void *)(uintptr_t)buf, count, type, dest, tag};
	const int was = zstation_visit(station_of(c, context));
	int rc = isend_here(&args, mode, out);

	zstation_return(was);
	return rc;
}

int zop_irecv(const struct zop_args *args, struct zreq **out)
{
	struct zop *op;
	int rc = zop_create(&op, ZOP_RECV, args, false);

	if (rc != MPI_SUCCESS)
		return rc;
	*out = &op->req;
	rc = zop_start(op);
	if (rc != MPI_SUCCESS)
		zreq_release(&op->req);
	return rc;
}

int zbridge_irecv(struct zcomm *c, enum zcomm_context context, void *buf, MPI_Count count, MPI_Datatype type,
	int source, int tag, struct zreq **out)
{
	const struct zop_args args = {c, context, buf, count, type, source, tag};
	const int was = zstation_visit(station_of(c, context));
	int rc = zop_irecv(&args, out);

	zstation_return(was);
	return rc;
}

MPI_Count zbridge_arrived(const struct zreq *r)
{
	/* One rail carries a transfer, in order; for several strands strands.c says how far there is no gap. */
	return (MPI_Count)((const struct zop *)(const void *)r)->moved;
}

int zbridge_init(const struct zbridge_params *p)
{
	bool failed = false;
	zstation_for_each(0)
	{
		failed |= zchannel_init(p) != 0 || zoutgoing_init() != 0 || zarrival_init() != 0;
		zprogress_init(p);
	}
	MPI_Request sent; /* once, as stations share it */
	if (failed || zreq_publish(&zop_sent, &sent) != MPI_SUCCESS)
		return MPI_ERR_NO_MEM;
	ztransfer_init(p);
	zdirect_init(p);
	zfailover_init(p);
	return MPI_SUCCESS;
}

static bool drained(void *ctx)
{
	bool all = true;

	(void)ctx;
	zstation_for_each(0) all =
		all && zoutgoing_drained() && zchannel_idle() && !ztransfer_must_finish() && !zstrands_must_finish();
	return all;
}

void zbridge_drain(void)
{
	zprogress_wait(drained, NULL);
	/* What we have taken must be acknowledged before we leave or stop polling. */
	zstation_for_each(0) zoutgoing_ack(true);
	zprogress_wait(drained, NULL);
}

static bool none_buffered(void *ctx)
{
	unsigned n = 0;

	(void)ctx;
	for (int e = 0; e < zstation_n; e++)
		n += zop_buffered_of[e];
	return n == 0;
}

void zbridge_wait_buffered(void)
{
	zprogress_wait(none_buffered, NULL);
}

/* zipperd adds up: what has come since the last time. */
static void tell_traffic(struct zctl_to_part *parts)
{
	static struct zctl_to_part told[ZCTL_PARTS_MAX];
	struct zctl_to_part news[ZCTL_PARTS_MAX];
	struct zctl_traffic traffic = {.parts = news};

	for (int p = 0; p < zworld.nparts; p++) {
		if (parts[p].msgs == told[p].msgs && parts[p].bytes == told[p].bytes)
			continue;
		news[traffic.nparts++] = (struct zctl_to_part){(uint32_t)p, parts[p].msgs - told[p].msgs,
			parts[p].bytes - told[p].bytes};
		told[p] = parts[p];
	}
	if (traffic.nparts > 0)
		zsession_traffic(zrails.rail[zrails_first()].session, &traffic);
}

/* What went over direct links only their ends know. Not inline: it has large arrays, and is rare in its caller. */
static __attribute__((noinline)) void tell_direct(void)
{
	struct zctl_to_part parts[ZCTL_PARTS_MAX] = {{0}};

	zchannel_add_direct(parts);
	tell_traffic(parts);
}

void zbridge_tell_direct(void)
{
	static time_t last;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec == last)
		return;
	last = now.tv_sec;
	tell_direct();
}

static void tell_all(void)
{
	struct zctl_to_part parts[ZCTL_PARTS_MAX] = {{0}};

	zchannel_add_direct(parts);
	zrecord_native(&parts[zworld.part].msgs, &parts[zworld.part].bytes);
	tell_traffic(parts);
}

static void conceal(struct zop *op, void *ctx)
{
	(void)ctx;
	ztransfer_conceal(op);
}

/* Messages that nobody has received, of an erroneous program: their memory is not to be reached when links close. */
static void conceal_rest(void)
{
	ztransfer_each(conceal, NULL);
	if (zstation_here == 0)
		zmulticast_conceal();
}

void zbridge_fini(void)
{
	zfailover_leave();
	zbridge_drain();
	zfailover_say();
	tell_all();
	zstation_for_each(0) zchannel_say_bye();
	zdirect_fini();
	zstation_for_each(0)
	{
		conceal_rest();
		zchannel_fini();
		zoutgoing_fini();
		zarrival_fini();
		ztransfer_fini();
		zpool_fini();
	}
}
