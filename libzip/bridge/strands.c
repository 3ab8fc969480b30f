/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in strands, see strands.h. */
#include "libzip/bridge/strands.h"

#include "common/wire/wire.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/op.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/type/data.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"
#include "libzip/world/status.h"

#define STRAND_ALIGN UINT64_C(4096)

int zstrands_tracks(uint32_t vrank)
{
	return zrails_count((int)zworld.place[vrank].part);
}

int zstrands_count(uint64_t total, uint32_t vrank)
{
	const int tracks = zstrands_tracks(vrank);
	uint64_t n = total / ZSTRANDS_STRAND_BYTES;

	if (n > ZSTRANDS_MAX)
		n = ZSTRANDS_MAX;
	return n < (uint64_t)tracks ? (int)n : tracks;
}

uint64_t zstrands_begin_of(uint64_t total, int n, int i)
{
	uint64_t each = (total / (uint64_t)n + STRAND_ALIGN - 1) / STRAND_ALIGN * STRAND_ALIGN;

	return i == n ? total : each * (uint64_t)i;
}

int zstrands_tag_of(uint64_t xfer)
{
	return (int)(xfer | UINT64_C(0x80000000));
}

void zstrands_add(struct zstation *at, struct zstrands *s, int n)
{
	s->n = s->left = n;
	s->next = at->strands;
	at->strands = s;
}

bool zstrands_check(const struct zremote *from, const struct zwire_env *env)
{
	return zstrands_tracks(from->vrank) > 1 && env->len == 0 && env->offset >= ZSTRANDS_LEAST_BYTES &&
	       env->xfer <= 0x7fffffffu && !(env->flags & ZWIRE_F_SYNC);
}

struct zstrands *zstrands_begin_recv(struct zop *op, struct zremote *from, int tag, uint16_t flags, uint64_t total)
{
	struct zstrands *s = zpool_get(sizeof(*s));
	int error = zop_check_fit(op, flags, total);

	if (error == MPI_SUCCESS && !op->data.dense)
		op->packed = zpool_get(total); /* total is at most the room that the application gave */
	if (!s || (error == MPI_SUCCESS && !zop_bytes(op)))
		zerror_fatal(1, "out of memory for a message of %llu bytes", (unsigned long long)total);
	*s = (struct zstrands){.recv = op, .error = error};
	op->remote = from;
	op->t.total = op->strands = total;
	op->t.moved = 0;
	op->req.status.MPI_TAG = tag;
	zstrands_add(from->station, s, zstrands_count(total, from->vrank));
	return s;
}

struct zop_args zstrands_recv_args(const struct zstrands *s, int i, uint64_t xfer)
{
	const struct zop *op = s->recv;
	const uint64_t at = zstrands_begin_of(op->t.total, s->n, i);
	const uint64_t len = s->error ? 0 : zstrands_begin_of(op->t.total, s->n, i + 1) - at;

	return (struct zop_args){zcomm_world, ZCOMM_INTERNAL, s->error ? NULL : zop_bytes(op) + at, (MPI_Count)len,
		MPI_BYTE, (int)op->remote->vrank, zstrands_tag_of(xfer)};
}

static bool collect(struct zstrands *s)
{
	bool did = false;

	for (int i = 0; i < s->n; i++) {
		struct zreq *r = s->strand[i];
		if (!r || !r->done)
			continue;
		if (s->error == MPI_SUCCESS)
			s->error = r->status.MPI_ERROR;
		zreq_release(r);
		s->strand[i] = NULL;
		s->left--;
		did = true;
	}
	return did;
}

/* Counts the bytes that have come from the beginning on, without a gap. */
static void look_how_far(const struct zstrands *s)
{
	struct zop *op = s->recv;
	int i = 0;

	while (i < s->n && !s->strand[i])
		i++;
	op->t.moved = zstrands_begin_of(op->t.total, s->n, i);
	if (i < s->n)
		op->t.moved += ((const struct zop *)(const void *)s->strand[i])->t.moved;
}

static void finish(struct zstrands *s)
{
	struct zop *op = s->recv;

	if (!op) {
		zstatus_empty(&s->req.status);
		s->req.status.MPI_ERROR = s->error;
		zreq_complete(&s->req);
		return;
	}
	uint64_t bytes = s->error == MPI_ERR_TRUNCATE ? op->data.bytes : s->error ? 0 : op->t.total;
	if (s->error == MPI_SUCCESS && op->packed)
		s->error = zdata_unpack(op->packed, op->t.total, op->buf, op->count, op->type);
	op->strands = 0;
	zop_finish_recv(op, op->remote->vrank, op->req.status.MPI_TAG, bytes, s->error);
	zpool_put(s);
}

bool zstrands_turn(struct zstation *station)
{
	struct zstrands **at = &station->strands;
	bool did = false;

	if (!station->strands)
		return false;
	while (*at) {
		struct zstrands *s = *at;
		did |= collect(s);
		if (s->left > 0) {
			if (s->recv && s->error == MPI_SUCCESS)
				look_how_far(s);
			at = &s->next;
			continue;
		}
		*at = s->next;
		finish(s);
	}
	return did;
}

bool zstrands_must_finish(const struct zstation *at)
{
	for (const struct zstrands *s = at->strands; s; s = s->next)
		if ((s->recv ? &s->recv->req : &s->req)->orphan)
			return true;
	return false;
}
