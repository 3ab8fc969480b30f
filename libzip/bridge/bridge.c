/* SPDX-License-Identifier: BSD-3-Clause */
/* Bridged sends and receives, see bridge.h. */
#include "libzip/bridge/bridge.h"

#include "libzip/bridge/op_start.h"
#include "libzip/bridge/strands_send.h"
#include "libzip/shim/station.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/attached.h"

static int station_of(const struct zcomm *c, enum zcomm_context context)
{
	return context == ZCOMM_PT2PT ? c->station : 0;
}

static int isend_here(const struct zop_args *args, enum zsend_mode mode, struct zreq **out)
{
	struct zcomm *c = args->comm;

	struct zremote *r = zremote_get(zstations_here(), (uint32_t)c->vrank[args->rank]);
	struct zdata data;
	if (r && zdata_view(&data, args->buf, args->count, args->type) == MPI_SUCCESS) {
		if (mode == ZSEND_BUFFERED && !zattached_has_room(zattached_of(c), data.bytes))
			return MPI_ERR_BUFFER;
		if (mode != ZSEND_SYNC && zoutgoing_try_eager(r, c->id | args->context, args->tag, &data)) {
			*out = &zop_start_sent;
			return MPI_SUCCESS;
		}
		if (__builtin_expect(zstrands_send_divides(r, args->context, &data, mode), 0))
			return zstrands_send(args, &data, out);
	}
	return zop_start_send(args, mode, out);
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

int zbridge_irecv(struct zcomm *c, enum zcomm_context context, void *buf, MPI_Count count, MPI_Datatype type,
	int source, int tag, struct zreq **out)
{
	const struct zop_args args = {c, context, buf, count, type, source, tag};
	const int was = zstation_visit(station_of(c, context));
	int rc = zop_start_recv(&args, out);

	zstation_return(was);
	return rc;
}

MPI_Count zbridge_arrived(const struct zreq *r)
{
	/* One track carries a transfer, in order; for several strands strands.c computes how far there is no gap. */
	return (MPI_Count)((const struct zop *)(const void *)r)->t.moved;
}
