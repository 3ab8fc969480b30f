/* SPDX-License-Identifier: BSD-3-Clause */
/* See otf2_messages.h. */
#ifdef HAVE_OTF2

#include "mapper/trace/otf2_messages.h"

#include <errno.h>
#include <stdlib.h>

/* Makes an operation of an event: with the rank of the other end, and the key of the message. */
static int op_make(struct otf2_reading *r, enum program_kind kind, OTF2_CommRef ref, uint32_t number, uint32_t tag,
	uint64_t bytes, struct program_op *op)
{
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, ref);
	int rc = c ? otf2_reading_take(r) : otf2_events_unknown(r->rank, "communicator", ref, r->err);

	if (rc)
		return rc;
	*op = (struct program_op){.kind = kind, .bytes = bytes, .key = (uint64_t)(c->comm & INT32_MAX) << 32 | tag};
	return otf2_events_peer(&r->trace, c, r->rank, number, &op->peer, r->err);
}

/* --- messages --- */

/* A blocking send. In MPI_Sendrecv and its kin it goes on while the receive waits. */
static int send_add(struct otf2_reading *r, struct program_op *op)
{
	uint32_t *more;
	int rc;

	if (r->span != ZGRAPH_SPAN_SENDRECV || !r->depth)
		return program_do(r->p, r->rank, op, r->err);
	more = realloc(r->pending, (r->npending + (size_t)1) * sizeof(*more));
	if (!more)
		return zerr_set(r->err, -ENOMEM, "not enough memory");
	r->pending = more;
	rc = program_begin(r->p, r->rank, op, r->err);
	if (!rc)
		more[r->npending++] = op->slot;
	return rc;
}

static OTF2_CallbackCode send_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct otf2_reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_SEND, comm, receiver, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return otf2_reading_next(r, rc ? rc : send_add(r, &op));
}

static OTF2_CallbackCode isend_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
	uint64_t request)
{
	struct otf2_reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_SEND, comm, receiver, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return otf2_reading_next(r, rc ? rc : program_begin_numbered(r->p, r->rank, &op, request, r->err));
}

static OTF2_CallbackCode isend_end_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct otf2_reading *r = arg;
	int rc = otf2_reading_take(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->completed = true;
	if (!rc)
		rc = program_wait_numbered(r->p, r->rank, request, 0, r->err);
	return otf2_reading_next(r, rc == -ENOENT ? 0 : rc); /* a trace may begin in the middle of a program */
}

static OTF2_CallbackCode recv_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct otf2_reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_RECV, comm, sender, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return otf2_reading_next(r, rc ? rc : program_do(r->p, r->rank, &op, r->err));
}

static OTF2_CallbackCode irecv_begin_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct program_op op = {.kind = PROGRAM_RECV, .peer = PROGRAM_NONE};
	struct otf2_reading *r = arg;
	int rc = otf2_reading_take(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return otf2_reading_next(r, rc ? rc : program_begin_numbered(r->p, r->rank, &op, request, r->err));
}

static OTF2_CallbackCode irecv_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
	uint64_t request)
{
	struct otf2_reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_RECV, comm, sender, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	if (rc)
		return otf2_reading_next(r, rc);
	r->completed = true;
	rc = program_tell(r->p, r->rank, request, op.peer, op.key, r->err);
	if (rc == -ENOENT)
		return otf2_reading_next(r, program_do(r->p, r->rank, &op, r->err));
	return otf2_reading_next(r, rc ? rc : program_wait_numbered(r->p, r->rank, request, 0, r->err));
}

/* A request that is cancelled has no message. */
static OTF2_CallbackCode cancel_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct otf2_reading *r = arg;
	int rc = otf2_reading_take(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->completed = true;
	if (!rc)
		program_cancel(r->p, r->rank, request);
	return otf2_reading_next(r, rc);
}

/* --- one-sided operations --- */

static int window_add(struct otf2_reading *r, OTF2_RmaWinRef win, uint32_t remote, enum program_kind kind,
	uint64_t bytes)
{
	const struct otf2_comm *c = otf2_defs_window(&r->defs, win);
	struct program_op op;
	int rc;

	if (!bytes)
		return 0;
	if (!c)
		return otf2_events_unknown(r->rank, "window", win, r->err);
	rc = op_make(r, kind, (OTF2_CommRef)c->ref, remote, 0, bytes, &op);
	return rc ? rc : program_do(r->p, r->rank, &op, r->err);
}

static OTF2_CallbackCode put_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)id;
	return otf2_reading_next(arg, window_add(arg, win, remote, PROGRAM_PUT, bytes));
}

static OTF2_CallbackCode get_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)id;
	return otf2_reading_next(arg, window_add(arg, win, remote, PROGRAM_GET, bytes));
}

static OTF2_CallbackCode atomic_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
	uint64_t received, uint64_t id)
{
	int rc = window_add(arg, win, remote, PROGRAM_PUT, sent);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)type;
	(void)id;
	return otf2_reading_next(arg, rc ? rc : window_add(arg, win, remote, PROGRAM_GET, received));
}

bool otf2_messages_set(OTF2_EvtReaderCallbacks *c)
{
	return OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, send_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, isend_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, isend_end_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, recv_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, irecv_begin_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, irecv_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, cancel_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, put_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, get_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, atomic_take) == OTF2_SUCCESS;
}

#endif
