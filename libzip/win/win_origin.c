/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on members in other parts: their messages and requests. See win_origin.h. */
#include "libzip/win/win_origin.h"

#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/bridge/bridge.h"
#include "libzip/progress/progress.h"
#include "libzip/type/data.h"
#include "libzip/world/error.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typecode.h"
#include "libzip/world/status.h"

/* With so many operations on one target not complete, or not sent, the origin waits before it starts another one. So
 * neither end keeps books of unlimited length. */
#define OPS_MAX 256u

struct zwin_op {
	struct zreq req; /* first */
	struct zwin_peer *peer;
	struct zreq *told, *sent, *result; /* message, data, result; NULL: none, or over */
	MPI_Count result_bytes;
	bool listed, wanted; /* listed: in the peer's list; wanted: the application has the request */
	struct zwin_op *next;
};

static bool is_over(struct zreq **request, int *error)
{
	if (!*request)
		return true;
	if (!zreq_is_done(*request))
		return false;
	if (*error == MPI_SUCCESS)
		*error = zerror_class((*request)->status.MPI_ERROR);
	zreq_release(*request);
	*request = NULL;
	return true;
}

static MPI_Count bytes_of(const struct zreq *r)
{
	MPI_Count n = 0;

	zn.Get_elements_x(&r->status, MPI_BYTE, &n);
	return n;
}

/* A target that refuses sends a result of no bytes. */
static void check_result(struct zwin_op *op)
{
	if (op->result && zreq_is_done(op->result) && op->result->status.MPI_ERROR == MPI_SUCCESS &&
		bytes_of(op->result) != op->result_bytes)
		op->req.status.MPI_ERROR = MPI_ERR_RMA_RANGE;
}

static bool progress(struct zreq *r)
{
	struct zwin_op *op = (struct zwin_op *)r;
	int *error = &r->status.MPI_ERROR;

	if (r->done)
		return true;
	check_result(op);
	if (!is_over(&op->told, error) || !is_over(&op->sent, error) || !is_over(&op->result, error))
		return false;
	if ((!op->wanted || r->orphan) && op->peer->error == MPI_SUCCESS)
		op->peer->error = *error;
	zreq_complete(r);
	return true;
}

static void unlist(struct zwin_op *op)
{
	struct zwin_peer *p = op->peer;
	struct zwin_op *last = NULL, **at = &p->ops;

	for (; *at != op; at = &(*at)->next)
		last = *at;
	*at = op->next;
	if (p->last_op == op)
		p->last_op = last;
	op->listed = false;
	p->nops--;
}

static void destroy(struct zreq *r)
{
	struct zwin_op *op = (struct zwin_op *)r;

	if (op->listed)
		unlist(op);
	if (op->told)
		zreq_release(op->told);
	if (op->sent)
		zreq_release(op->sent);
	if (op->result)
		zreq_release(op->result);
}

static const struct zreq_ops ops = {.name = "one-sided operation", .progress = progress, .destroy = destroy};

/* Operations that are over leave the list from the front; the first one that is not over ends the search. progress
 * completes orphans, which then leave the list. */
bool zwin_origin_is_done(struct zwin_peer *p)
{
	while (p->ops && !p->ops->req.orphan && zreq_is_done(&p->ops->req)) {
		struct zwin_op *op = p->ops;
		unlist(op);
		if (!op->wanted)
			zreq_release(&op->req);
	}
	return !p->ops;
}

static struct zwin_op *make(struct zwin *w, struct zwin_peer *p)
{
	struct zwin_op *op = (struct zwin_op *)zreq_create(&ops, sizeof(*op), w->comm);

	if (op) {
		op->peer = p;
		zstatus_empty(&op->req.status);
		op->req.status.MPI_ERROR = MPI_SUCCESS;
	}
	return op;
}

static void list(struct zwin_op *op)
{
	struct zwin_peer *p = op->peer;

	if (p->last_op)
		p->last_op->next = op;
	else
		p->ops = op;
	p->last_op = op;
	op->listed = true;
	p->nops++;
}

/* Packs small data for the wire, into memory of the pool. */
static int pack_inside(const struct zwin_call *c, struct zwin_message *m, uint8_t **packed)
{
	const uint64_t each = m->kind == ZWIN_SWAP ? m->bytes / 2 : m->bytes;

	*packed = zpool_get(m->bytes ? m->bytes : 1);
	if (!*packed)
		return MPI_ERR_NO_MEM;
	int rc = MPI_SUCCESS;
	uint8_t *at = *packed;
	if (m->kind == ZWIN_SWAP) {
		rc = zdata_pack(at, each, c->compare, 1, c->origin_type);
		at += each;
	}
	if (rc == MPI_SUCCESS)
		rc = zdata_pack(at, each, c->origin, c->origin_count, c->origin_type);
	m->flags |= ZWIN_F_INSIDE;
	m->data = *packed;
	return rc;
}

static bool has_data(const struct zwin_call *c)
{
	return c->kind != ZWIN_GET && !(c->kind == ZWIN_GET_ACCUMULATE && c->op == MPI_NO_OP);
}

static bool gives_back(enum zwin_kind kind)
{
	return kind != ZWIN_PUT && kind != ZWIN_ACCUMULATE;
}

/* The number of bytes that the operation sends, or that MPI_Get receives; *back: bytes of its result. */
static int measure(const struct zwin_call *c, struct zwin_message *m, MPI_Count *back)
{
	struct zdata data;
	int rc = MPI_SUCCESS;

	if (c->kind == ZWIN_GET)
		rc = zdata_view(&data, c->result, c->result_count, c->result_type);
	else if (has_data(c))
		rc = zdata_view(&data, c->origin, c->origin_count, c->origin_type);
	else
		data.bytes = 0;
	m->bytes = rc == MPI_SUCCESS ? data.bytes << (c->kind == ZWIN_SWAP) : 0;
	if (rc == MPI_SUCCESS && gives_back(c->kind))
		*back = c->target_count * ztype_find(c->target_type)->size;
	return rc;
}

static int await_result(struct zwin *w, struct zwin_op *op, const struct zwin_call *c, uint32_t number)
{
	return zbridge_irecv(zwin_message_carrier(), ZWIN_BACK, c->result, c->result_count, c->result_type,
		w->comm->vrank[op->peer->rank], (int)number, &op->result);
}

/* Sends message and data, and posts the receive of the result. */
static int launch(struct zwin *w, struct zwin_op *op, const struct zwin_call *c, struct zwin_message *m)
{
	const bool data = has_data(c), apart = m->code_len > zwin_message_inside_bytes();
	const bool inside = data && (c->kind == ZWIN_SWAP || (m->bytes <= zwin_message_inside_bytes() && !apart));
	const int vrank = w->comm->vrank[op->peer->rank];
	uint8_t *packed = NULL;
	struct zreq *copied;
	int rc = inside ? pack_inside(c, m, &packed) : MPI_SUCCESS;

	if (rc == MPI_SUCCESS && gives_back(c->kind))
		rc = await_result(w, op, c, m->number);
	m->flags |= apart ? ZWIN_F_APART : 0;
	if (rc == MPI_SUCCESS)
		rc = zwin_message_say(w, op->peer, m, &op->told);
	zpool_put(packed);
	if (rc == MPI_SUCCESS && apart)
		rc = zbridge_isend(zwin_message_carrier(), ZWIN_THERE, m->code, m->code_len, MPI_BYTE, vrank,
			(int)m->number, ZSEND_DETACHED, &copied);
	if (rc == MPI_SUCCESS && data && !inside)
		rc = zbridge_isend(zwin_message_carrier(), ZWIN_THERE, c->origin, c->origin_count, c->origin_type,
			vrank, (int)m->number, ZSEND_STANDARD, &op->sent);
	return rc;
}

static bool is_little(void *arg)
{
	struct zwin_peer *p = arg;

	zwin_origin_is_done(p);
	return p->nops < OPS_MAX / 2;
}

int zwin_origin_start(struct zwin *w, struct zwin_peer *p, const struct zwin_call *c, MPI_Request *request)
{
	struct zwin_message m = {.kind = c->kind,
		.op = zabi_op_number(c->op),
		.number = zwin_message_number(),
		.disp = c->disp,
		.count = (uint64_t)c->target_count};
	struct ztypecode code;
	MPI_Count back = 0;

	if (__builtin_expect(p->nops > OPS_MAX, 0))
		zprogress_wait(is_little, p);
	int rc = zwin_message_carrier() ? ztypecode_encode(c->target_type, &code) : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS)
		rc = measure(c, &m, &back);
	struct zwin_op *op = rc == MPI_SUCCESS ? make(w, p) : NULL;
	if (!op)
		return rc == MPI_SUCCESS ? MPI_ERR_NO_MEM : rc;
	op->result_bytes = back;
	m.code = code.code;
	m.code_len = (uint32_t)code.len;
	rc = launch(w, op, c, &m);
	if (rc == MPI_SUCCESS && request)
		rc = zreq_publish(&op->req, request);
	if (rc != MPI_SUCCESS) /* whether the message was sent, nobody can tell */
		zerror_fatal(1, "%s: no memory for an operation on rank %d", c->name, p->rank);
	op->wanted = request != NULL;
	p->dirty |= !gives_back(c->kind); /* a result tells that the operation was executed */
	zwin_touch(w, p);
	if (!progress(&op->req))
		list(op);
	else if (!request)
		zreq_release(&op->req);
	return MPI_SUCCESS;
}
