/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending a message in strands, see strands_send.h. */
#include "libzip/bridge/strands_send.h"

#include "libzip/bridge/op_start.h"
#include "libzip/bridge/strands.h"
#include "libzip/stream/op.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"

static const struct zreq_ops send_ops = {.name = "send in strands"};

bool zstrands_send_divides(const struct zremote *r, enum zcomm_context context, const struct zdata *d,
	enum zsend_mode mode)
{
	return !zrails_is_one() && d->bytes >= ZSTRANDS_LEAST_BYTES && d->dense && context != ZCOMM_INTERNAL &&
	       (mode == ZSEND_STANDARD || mode == ZSEND_SYNC) && zremote_is_bridged(r) && !r->stream.gone &&
	       zstrands_tracks(r->vrank) > 1;
}

/* Makes strand i of a send, and does not start it. */
static int make_strand(struct zstrands *s, int i, const uint8_t *bytes, uint64_t len, int vrank, int tag)
{
	struct zop_args args = {zcomm_world, ZCOMM_INTERNAL, (void *)(uintptr_t)bytes, (MPI_Count)len, MPI_BYTE, vrank,
		tag};
	struct zop *op;
	int rc = zop_start_make(&op, ZOP_SEND, &args, false);

	if (rc == MPI_SUCCESS)
		s->strand[i] = &op->req;
	return rc;
}

static int announce(const struct zop_args *a, const struct zdata *d, uint64_t xfer)
{
	struct zop_args args = *a;
	struct zop *op;

	args.buf = NULL;
	args.count = 0;
	args.type = MPI_BYTE;
	int rc = zop_start_make(&op, ZOP_SEND, &args, false);
	if (rc != MPI_SUCCESS)
		return rc;
	op->data.converted = d->converted;
	op->strands = d->bytes;
	op->t.peer_xfer = xfer;
	op->req.orphan = true; /* freed when it is in the stream */
	rc = zop_start(op);
	if (rc != MPI_SUCCESS)
		zreq_release(&op->req);
	return rc;
}

int zstrands_send(const struct zop_args *a, const struct zdata *d, struct zreq **out)
{
	struct zstrands *s = (struct zstrands *)(void *)zreq_create(&send_ops, sizeof(*s), a->comm);
	struct zstation *here = zstations_here();
	const uint64_t xfer = ++here->strands_last & 0x7fffffffu;
	const int vrank = a->comm->vrank[a->rank], n = zstrands_count(d->bytes, (uint32_t)vrank);
	int rc = s ? MPI_SUCCESS : MPI_ERR_NO_MEM;

	for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
		uint64_t from = zstrands_begin_of(d->bytes, n, i);
		rc = make_strand(s, i, d->dense + from, zstrands_begin_of(d->bytes, n, i + 1) - from, vrank,
			zstrands_tag_of(xfer));
	}
	if (rc == MPI_SUCCESS)
		rc = announce(a, d, xfer);
	for (int i = 0; rc == MPI_SUCCESS && i < n; i++)
		if (zop_start((struct zop *)(void *)s->strand[i]) != MPI_SUCCESS)
			zerror_fatal(1, "out of memory for a message that has been announced");
	if (rc != MPI_SUCCESS) {
		for (int i = 0; s && i < n && s->strand[i]; i++)
			zreq_release(s->strand[i]);
		if (s)
			zreq_release(&s->req);
		return rc;
	}
	zstrands_add(here, s, n);
	*out = &s->req;
	return MPI_SUCCESS;
}
