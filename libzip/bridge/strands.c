/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in strands, see strands.h. */
#include "libzip/bridge/strands.h"

#include "libzip/bridge/bridge.h"
#include "libzip/world/comm.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/shim/pool.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"
#include "libzip/world/status.h"

/* A strand is at least so long: what an announcement and two more handshakes cost must be little beside it. */
#define STRAND_BYTES (UINT64_C(256) << 10)
#define STRAND_ALIGN UINT64_C(4096)

struct strands {
	struct zreq req; /* of a send; receives have the application's own */
	struct strands *next;
	struct zop *recv; /* NULL: a send */
	int n, left;
	int error;
	struct zreq *strand[ZCTL_RAILS_MAX]; /* NULL: complete */
};

static struct {
	struct strands *active;
	uint32_t last; /* number of a message */
} stations[ZSTATIONS_MAX];
#define self (stations[zstation_here])
static const struct zreq_ops send_ops = {.name = "send in strands"};

static int count_rails(uint32_t vrank)
{
	return zrails_count((int)zworld.place[vrank].part);
}

static int count_strands(uint64_t total, uint32_t vrank)
{
	const int rails = count_rails(vrank);
	uint64_t n = total / STRAND_BYTES;

	return n < (uint64_t)rails ? (int)n : rails;
}

/* Where strand i of n begins, and the last one ends. */
static uint64_t begin_of(uint64_t total, int n, int i)
{
	uint64_t each = (total / (uint64_t)n + STRAND_ALIGN - 1) / STRAND_ALIGN * STRAND_ALIGN;

	return i == n ? total : each * (uint64_t)i;
}

/* Negative: the library's other messages in that context have no such tags. */
static int tag_of(uint64_t xfer)
{
	return (int)(xfer | UINT64_C(0x80000000));
}

bool zstrands_divide(const struct zremote *r, enum zcomm_context context, const struct zdata *d, enum zsend_mode mode)
{
	return zrails.n > 1 && d->bytes >= 2 * STRAND_BYTES && d->dense && context != ZCOMM_INTERNAL &&
	       (mode == ZSEND_STANDARD || mode == ZSEND_SYNC) && zremote_is_bridged(r) && !r->stream.gone &&
	       count_rails(r->vrank) > 1;
}

static void add(struct strands *s, int n)
{
	s->n = s->left = n;
	s->next = self.active;
	self.active = s;
}

/* One of a send's, made but not started. */
static int make_strand(struct strands *s, int i, const uint8_t *bytes, uint64_t len, int vrank, int tag)
{
	struct zop_args args = {zcomm_world, ZCOMM_INTERNAL, (void *)(uintptr_t)bytes, (MPI_Count)len, MPI_BYTE, vrank,
		tag};
	struct zop *op;
	int rc = zop_create(&op, ZOP_SEND, &args, false);

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
	int rc = zop_create(&op, ZOP_SEND, &args, false);
	if (rc != MPI_SUCCESS)
		return rc;
	op->data.converted = d->converted;
	op->strands = d->bytes;
	op->peer_xfer = xfer;
	op->req.orphan = true; /* goes when it is in the stream */
	rc = zop_start(op);
	if (rc != MPI_SUCCESS)
		zreq_release(&op->req);
	return rc;
}

int zstrands_send(const struct zop_args *a, const struct zdata *d, struct zreq **out)
{
	struct strands *s = (struct strands *)(void *)zreq_create(&send_ops, sizeof(*s), a->comm);
	const uint64_t xfer = ++self.last & 0x7fffffffu;
	const int vrank = a->comm->vrank[a->rank], n = count_strands(d->bytes, (uint32_t)vrank);
	int rc = s ? MPI_SUCCESS : MPI_ERR_NO_MEM;

	for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
		uint64_t from = begin_of(d->bytes, n, i);
		rc = make_strand(s, i, d->dense + from, begin_of(d->bytes, n, i + 1) - from, vrank, tag_of(xfer));
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
	add(s, n);
	*out = &s->req;
	return MPI_SUCCESS;
}

void zstrands_announce(const struct zop *op, struct zwire_env *env)
{
	env->flags |= ZWIRE_F_STRANDS;
	env->xfer = op->peer_xfer;
	env->offset = op->strands;
}

bool zstrands_check(const struct zremote *from, const struct zwire_env *env)
{
	return count_rails(from->vrank) > 1 && env->len == 0 && env->offset >= 2 * STRAND_BYTES &&
	       env->xfer <= 0x7fffffffu && !(env->flags & ZWIRE_F_SYNC);
}

void zstrands_recv(struct zop *op, struct zremote *from, uint64_t xfer, int tag, uint16_t flags, uint64_t total)
{
	struct strands *s = zpool_get(sizeof(*s));
	int error = zop_check_fit(op, flags, total), n = count_strands(total, from->vrank);

	if (error == MPI_SUCCESS && !op->data.dense)
		op->packed = zpool_get(total); /* total is at most the room that the application gave */
	if (!s || (error == MPI_SUCCESS && !zop_bytes(op)))
		zerror_fatal(1, "out of memory for a message of %llu bytes", (unsigned long long)total);
	*s = (struct strands){.recv = op, .error = error};
	op->remote = from;
	op->total = op->strands = total;
	op->moved = 0;
	op->req.status.MPI_TAG = tag;
	add(s, n);
	/* Without room for it: each strand is told so by its own receive, and none is left behind. */
	for (int i = 0; i < n; i++) {
		uint64_t at = begin_of(total, n, i), len = error ? 0 : begin_of(total, n, i + 1) - at;
		const struct zop_args args = {zcomm_world, ZCOMM_INTERNAL, error ? NULL : zop_bytes(op) + at,
			(MPI_Count)len, MPI_BYTE, (int)from->vrank, tag_of(xfer)};
		if (zop_irecv(&args, &s->strand[i]) != MPI_SUCCESS)
			zerror_fatal(1, "out of memory for a message of %llu bytes", (unsigned long long)total);
	}
}

static bool collect(struct strands *s)
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

/* How much has come from the beginning on, without a gap. */
static void look_how_far(const struct strands *s)
{
	struct zop *op = s->recv;
	int i = 0;

	while (i < s->n && !s->strand[i])
		i++;
	op->moved = begin_of(op->total, s->n, i);
	if (i < s->n)
		op->moved += (uint64_t)zbridge_arrived(s->strand[i]);
}

static void finish(struct strands *s)
{
	struct zop *op = s->recv;

	if (!op) {
		zstatus_empty(&s->req.status);
		s->req.status.MPI_ERROR = s->error;
		zreq_complete(&s->req);
		return;
	}
	if (s->error == MPI_SUCCESS && op->packed)
		s->error = zdata_unpack(op->packed, op->total, op->buf, op->count, op->type);
	uint64_t bytes = s->error == MPI_ERR_TRUNCATE ? op->data.bytes : s->error ? 0 : op->total;
	op->strands = 0;
	zop_finish_recv(op, op->remote->vrank, op->req.status.MPI_TAG, bytes, s->error);
	zpool_put(s);
}

bool zstrands_turn(void)
{
	struct strands **at = &self.active;
	bool did = false;

	if (!self.active)
		return false;
	while (*at) {
		struct strands *s = *at;
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

bool zstrands_must_finish(void)
{
	for (const struct strands *s = self.active; s; s = s->next)
		if ((s->recv ? &s->recv->req : &s->req)->orphan)
			return true;
	return false;
}
