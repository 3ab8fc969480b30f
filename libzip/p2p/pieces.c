/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of partitioned sends and receives. See pieces.h. */
#include "libzip/p2p/pieces.h"

#include <stdlib.h>

#include "libzip/bridge/bridge.h"
#include "libzip/bridge/op_start.h"
#include "libzip/progress/progress.h"
#include "libzip/stream/op.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typehold.h"
#include "libzip/world/status.h"

#define NUMBERS (UINT32_MAX / 2) /* numbers of pieces, for all that a rank ever sends; as tags they are negative */

static uint32_t numbers; /* numbers that this rank has given; of the library as a whole */
static struct zpieces *unmet;

static int make_pieces(struct zpieces *p, int n)
{
	p->piece = calloc((size_t)n, sizeof(*p->piece));
	p->npieces = p->piece ? n : 0;
	return p->piece ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Looks at the pieces under way. True: all pieces are over. */
static bool look(struct zpieces *p)
{
	for (int i = p->first; i < p->npieces; i++) {
		struct zpieces_piece *e = &p->piece[i];
		if (e->stage == ZPIECES_UNDER_WAY && zreq_is_done(e->message)) {
			if (p->error == MPI_SUCCESS)
				p->error = e->message->status.MPI_ERROR;
			zreq_release(e->message);
			e->stage = ZPIECES_OVER;
		}
		if (e->stage == ZPIECES_OVER && i == p->first)
			p->first++;
	}
	return p->first == p->npieces;
}

void zpieces_rewind(struct zpieces *p)
{
	p->req.done = false;
	p->req.active = true;
	p->first = 0;
	p->error = MPI_SUCCESS;
	for (int i = 0; i < p->npieces; i++)
		p->piece[i].stage = ZPIECES_WAITING;
}

/* Takes a request out of the list of waiting ones, if it is there. */
static void leave_unmet(struct zpieces *p)
{
	for (struct zpieces **at = &unmet; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
}

void zpieces_destroy(struct zreq *r)
{
	static uint64_t nowhere[ZPIECES_HELLO];
	struct zpieces *p = (struct zpieces *)r;

	leave_unmet(p);
	if (p->native != MPI_REQUEST_NULL)
		zn.Request_free(&p->native);
	if (p->hello &&
		!zreq_is_done(p->hello)) { /* the hello belongs to this request all the same, and not to the next one */
		struct zop *op = (struct zop *)p->hello;
		op->buf = nowhere;
		op->data.dense = op->data.dense ? op->buf : NULL;
		op->req.orphan = true;
	} else if (p->hello) {
		zreq_release(p->hello);
	}
	free(p->piece);
	free(p->packed);
	if (p->type != MPI_DATATYPE_NULL)
		ztypehold_release(p->type);
}

/* --- sending --- */

static int start_send(struct zreq *r)
{
	zpieces_rewind((struct zpieces *)r);
	return MPI_SUCCESS;
}

static bool progress_send(struct zreq *r)
{
	struct zpieces *p = (struct zpieces *)r;

	if (!r->done && look(p)) {
		zstatus_empty(&r->status);
		r->status.MPI_ERROR = p->error;
		zreq_complete(r);
		return true;
	}
	return r->done;
}

const struct zreq_ops zpieces_send_ops = {.name = "partitioned send",
	.progress = progress_send,
	.start = start_send,
	.destroy = zpieces_destroy};

static int say_hello(struct zpieces *p)
{
	struct zreq *sent;

	p->word[ZPIECES_NUMBER] = p->number;
	p->word[ZPIECES_PIECES] = (uint64_t)p->partitions;
	p->word[ZPIECES_BYTES] = p->bytes;
	return zbridge_isend(p->req.comm, ZCOMM_INTERNAL, p->word, ZPIECES_HELLO, MPI_UINT64_T, p->rank, ~p->tag,
		ZSEND_DETACHED, &sent); /* the send is over at once, and goes on with a copy */
}

int zpieces_init_send(struct zpieces *p)
{
	if ((uint32_t)p->partitions > NUMBERS - numbers)
		return MPI_ERR_INTERN;
	p->number = numbers;
	numbers += (uint32_t)p->partitions;
	p->bytes = p->data.bytes / (uint64_t)p->partitions;
	int rc = make_pieces(p, p->partitions);
	return rc == MPI_SUCCESS ? say_hello(p) : rc;
}

int zpieces_ready(struct zpieces *p, int i, const char *name)
{
	struct zpieces_piece *e = &p->piece[i];
	const char *at = (const char *)p->buf + (MPI_Aint)p->count * p->extent * i;

	if (e->stage != ZPIECES_WAITING)
		return zerror_raise(p->req.comm, MPI_ERR_ARG, name, "partition %d is ready already", i);
	int rc = zbridge_isend(p->req.comm, ZCOMM_LEADERS, at, p->count, p->type, p->rank,
		~(int)(p->number + (uint32_t)i), ZSEND_STANDARD, &e->message);
	if (rc != MPI_SUCCESS)
		return zerror_raise(p->req.comm, rc, name, "cannot send partition %d", i);
	e->stage = ZPIECES_UNDER_WAY;
	return MPI_SUCCESS;
}

/* --- receiving --- */

static int await(struct zpieces *p, int i)
{
	const uint64_t at = p->bytes * (uint64_t)i, room = p->data.bytes;
	const uint64_t left = at < room ? room - at : 0, len = left < p->bytes ? left : p->bytes;
	uint8_t *base = p->packed ? p->packed : p->data.dense;
	struct zop_args args = {p->req.comm, ZCOMM_LEADERS, len ? base + at : NULL, (MPI_Count)len, MPI_BYTE, p->rank,
		~(int)(p->number + (uint32_t)i)};
	struct zop *op;
	int rc = zop_start_make(&op, ZOP_RECV, &args, false);

	if (rc != MPI_SUCCESS)
		return rc;
	op->data.converted = p->data.converted;
	rc = zop_start(op);
	if (rc != MPI_SUCCESS) {
		zreq_release(&op->req);
		return rc;
	}
	p->piece[i] = (struct zpieces_piece){ZPIECES_UNDER_WAY, &op->req};
	return MPI_SUCCESS;
}

/* Pieces that cannot be received are over. */
static void await_all(struct zpieces *p)
{
	int rc = MPI_SUCCESS;

	if (!p->data.dense && p->data.bytes > 0 && !p->packed && !(p->packed = malloc(p->data.bytes)))
		rc = MPI_ERR_NO_MEM;
	for (int i = 0; i < p->npieces; i++) {
		rc = rc == MPI_SUCCESS ? await(p, i) : rc;
		if (rc != MPI_SUCCESS)
			p->piece[i].stage = ZPIECES_OVER;
	}
	p->error = rc;
}

/* Posts the receives of the pieces when they are known. True: they are. */
static bool meet(struct zpieces *p)
{
	if (!p->hello || !zreq_is_done(p->hello))
		return false;
	int n = (int)p->word[ZPIECES_PIECES];
	p->number = (uint32_t)p->word[ZPIECES_NUMBER];
	p->bytes = p->word[ZPIECES_BYTES];
	if (p->hello->status.MPI_ERROR != MPI_SUCCESS || n < 1 || make_pieces(p, n) != MPI_SUCCESS)
		zerror_fatal(1, "cannot make a partitioned receive of %d partitions", n);
	zreq_release(p->hello);
	p->hello = NULL;
	leave_unmet(p);
	await_all(p);
	return true;
}

/* A rank that waits for a send of ours may first wait for such a receive to begin. So progress looks at waiting
 * receives, too. */
static bool meet_all(void)
{
	bool did = false;

	for (struct zpieces *p = unmet, *next; p; p = next) {
		next = p->next;
		did |= meet(p);
	}
	return did;
}

static int start_recv(struct zreq *r)
{
	struct zpieces *p = (struct zpieces *)r;

	zpieces_rewind(p);
	if (p->npieces == 0 && !meet(p)) {
		p->next = unmet;
		unmet = p;
		zprogress_add(meet_all);
	} else if (p->piece[0].stage == ZPIECES_WAITING) {
		await_all(p);
	}
	return MPI_SUCCESS;
}

static void finish_recv(struct zpieces *p)
{
	uint64_t total = p->bytes * (uint64_t)p->npieces, bytes = total < p->data.bytes ? total : p->data.bytes;
	MPI_Count count = (MPI_Count)bytes;

	if (p->packed && p->error == MPI_SUCCESS)
		p->error = zdata_unpack(p->packed, bytes, p->buf, p->count * p->partitions, p->type);
	if (bytes > 0 && (p->data.converted || (p->error == MPI_ERR_TYPE && !p->data.dense)))
		count = zdata_native_bytes(p->type, bytes);
	zstatus_set(&p->req.status, p->rank, p->tag, p->error, count, false);
	zreq_complete(&p->req);
}

static bool progress_recv(struct zreq *r)
{
	struct zpieces *p = (struct zpieces *)r;

	if (r->done)
		return true;
	if ((p->npieces == 0 && !meet(p)) || !look(p))
		return false;
	finish_recv(p);
	return true;
}

const struct zreq_ops zpieces_recv_ops = {.name = "partitioned receive",
	.progress = progress_recv,
	.start = start_recv,
	.destroy = zpieces_destroy};

int zpieces_init_recv(struct zpieces *p)
{
	return zbridge_irecv(p->req.comm, ZCOMM_INTERNAL, p->word, ZPIECES_HELLO, MPI_UINT64_T, p->rank, ~p->tag,
		&p->hello);
}

/* Has a partition arrived, that is, all of the sender's pieces that it lies in? Where pieces cannot lie in the buffer,
 * a partition is there when all pieces are. A partition that the sender has no bytes for is there with the piece of
 * its number, or when all pieces are. */
bool zpieces_has_arrived(struct zpieces *p, int i)
{
	const uint64_t mine = p->data.bytes / (uint64_t)p->partitions, from = mine * (uint64_t)i, to = from + mine;

	if (progress_recv(&p->req))
		return true;
	if (p->npieces == 0 || p->packed)
		return false;
	const uint64_t n = (uint64_t)p->npieces, first = p->bytes ? from / p->bytes : n;
	if (mine == 0 || first >= n)
		return p->npieces == p->partitions && p->piece[i].stage == ZPIECES_OVER;
	for (uint64_t k = first; k < n && p->bytes * k < to; k++)
		if (p->piece[k].stage != ZPIECES_OVER)
			return false;
	return true;
}
