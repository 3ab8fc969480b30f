/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of OTF2 traces as programs, see otf2_program.h. */
#include "mapper/trace/otf2_program.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_OTF2

#include "mapper/program/program_coll.h"
#include "mapper/trace/otf2_events.h"

#define PHASES_MAX 64 /* open at once; deeper ones do not count */

struct reading {
	struct program *p;
	struct trace trace; /* its ranks and communicators */
	struct otf2_defs defs;
	const char *path;
	struct zerr *err;
	int rc; /* of a callback */
	/* of the location: */
	uint32_t rank;
	bool other;	       /* another location of the rank has messages */
	unsigned depth;	       /* of MPI functions that are entered */
	enum zgraph_span span; /* of the outermost of them */
	uint64_t left;	       /* ticks: when the rank began to compute */
	bool computes;	       /* `left` is known */
	uint32_t *pending;     /* [npending]: slots of sends that the function waits for when it ends */
	uint32_t npending;
	const char *phase[PHASES_MAX];
	unsigned phases;
};

static OTF2_CallbackCode next(struct reading *r, int rc)
{
	r->rc = rc;
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

/* Makes an operation of an event: with the rank of the other end, and the key of the message. */
static int op_make(struct reading *r, enum program_kind kind, OTF2_CommRef ref, uint32_t number, uint32_t tag,
	uint64_t bytes, struct program_op *op)
{
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, ref);

	if (!c)
		return otf2_events_unknown(r->rank, "communicator", ref, r->err);
	if (r->other)
		return zerr_set(r->err, -ENOTSUP, "two threads of rank %u call MPI; their order is not known", r->rank);
	*op = (struct program_op){.kind = kind, .bytes = bytes, .key = (uint64_t)(c->comm & INT32_MAX) << 32 | tag};
	return otf2_events_peer(&r->trace, c, r->rank, number, &op->peer, r->err);
}

/* --- messages --- */

/* A blocking send. In MPI_Sendrecv and its kin it goes on while the receive waits. */
static int send_add(struct reading *r, struct program_op *op)
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
	struct reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_SEND, comm, receiver, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, rc ? rc : send_add(r, &op));
}

static OTF2_CallbackCode isend_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
	uint64_t request)
{
	struct reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_SEND, comm, receiver, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, rc ? rc : program_begin_numbered(r->p, r->rank, &op, request, r->err));
}

static OTF2_CallbackCode isend_end_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct reading *r = arg;
	int rc = program_wait_numbered(r->p, r->rank, request, 0, r->err);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, rc == -ENOENT ? 0 : rc); /* a trace may begin in the middle of a program */
}

static OTF2_CallbackCode recv_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_RECV, comm, sender, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, rc ? rc : program_do(r->p, r->rank, &op, r->err));
}

static OTF2_CallbackCode irecv_begin_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct program_op op = {.kind = PROGRAM_RECV, .peer = PROGRAM_NONE};
	struct reading *r = arg;

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, program_begin_numbered(r->p, r->rank, &op, request, r->err));
}

static OTF2_CallbackCode irecv_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
	uint64_t request)
{
	struct reading *r = arg;
	struct program_op op;
	int rc = op_make(r, PROGRAM_RECV, comm, sender, tag, bytes, &op);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	if (rc)
		return next(r, rc);
	rc = program_tell(r->p, r->rank, request, op.peer, op.key, r->err);
	if (rc == -ENOENT)
		return next(r, program_do(r->p, r->rank, &op, r->err));
	return next(r, rc ? rc : program_wait_numbered(r->p, r->rank, request, 0, r->err));
}

/* --- collectives --- */

static int coll_add(struct reading *r, const struct otf2_comm *c, const struct trace_call *call)
{
	const struct trace_comm *comm = &r->trace.comm[c->comm];
	struct program_coll coll = {.kind = call->kind, .member = comm->member, .n = comm->n, .comm = c->comm};
	uint64_t handed;

	if (comm->first) /* between two groups */
		return 0;
	coll.rank = trace_place(comm, r->rank);
	if (coll.rank == comm->n)
		return zerr_set(r->err, -EINVAL, "a collective of rank %u on a communicator without it", r->rank);
	coll.root = trace_has_root(call->kind) ? call->root : 0;
	if (coll.root >= comm->n)
		return zerr_set(r->err, -EINVAL, "a collective with root %u on a communicator of %u", coll.root,
			comm->n);
	coll.bytes = trace_unit(call, coll.rank, comm->n, &handed);
	if (call->kind == ZGRAPH_ALLGATHERV && comm->n > 1) /* of all blocks that are passed on */
		coll.bytes /= comm->n - 1;
	return program_coll(r->p, &coll, r->err);
}

static OTF2_CallbackCode collective_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received)
{
	struct reading *r = arg;
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, comm);
	struct trace_call call = {otf2_events_kind(op), r->rank, 0, root, sent, received};

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	if (call.kind == ZGRAPH_KINDS || (c && c->self)) /* alone, a rank sends nothing */
		return OTF2_CALLBACK_SUCCESS;
	if (!c || c->comm == OTF2_DEFS_NONE)
		return next(r, otf2_events_unknown(r->rank, "communicator", comm, r->err));
	return next(r, coll_add(r, c, &call));
}

static OTF2_CallbackCode nonblocking_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received, uint64_t request)
{
	(void)request;
	return collective_take(location, time, at, arg, attributes, op, comm, root, sent, received);
}

/* --- one-sided operations --- */

static int window_add(struct reading *r, OTF2_RmaWinRef win, uint32_t remote, enum program_kind kind, uint64_t bytes)
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
	return next(arg, window_add(arg, win, remote, PROGRAM_PUT, bytes));
}

static OTF2_CallbackCode get_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)id;
	return next(arg, window_add(arg, win, remote, PROGRAM_GET, bytes));
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
	return next(arg, rc ? rc : window_add(arg, win, remote, PROGRAM_GET, received));
}

/* --- time and phases --- */

static int phase_set(struct reading *r)
{
	unsigned n = r->phases < PHASES_MAX ? r->phases : PHASES_MAX;

	return program_phase(r->p, r->rank, n ? r->phase[n - 1] : r->p->phases.name[0], 0, r->err);
}

static OTF2_CallbackCode enter_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct reading *r = arg;
	bool is_mpi, is_init, is_end;
	enum zgraph_span span = otf2_defs_region(&r->defs, region, &is_mpi, &is_init, &is_end);
	const char *phase = otf2_defs_phase(&r->defs, region);
	int rc = 0;

	(void)location;
	(void)at;
	(void)attributes;
	if ((phase || (is_mpi && !r->depth && (span != ZGRAPH_SPANS || is_end))) && r->computes && time > r->left) {
		rc = program_compute(r->p, r->rank, (double)otf2_events_ns(&r->defs, time - r->left) * 1e-9, 0, r->err);
		r->left = time;
	}
	if (!rc && phase) {
		if (r->phases < PHASES_MAX)
			r->phase[r->phases] = phase;
		r->phases++;
		rc = phase_set(r);
	}
	if (is_mpi && !r->depth++)
		r->span = span;
	return next(r, rc);
}

static OTF2_CallbackCode leave_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct reading *r = arg;
	bool is_mpi, is_init, is_end;
	int rc = 0;

	(void)location;
	(void)at;
	(void)attributes;
	otf2_defs_region(&r->defs, region, &is_mpi, &is_init, &is_end);
	if (otf2_defs_phase(&r->defs, region) && r->phases) {
		if (r->computes && time > r->left) {
			rc = program_compute(r->p, r->rank, (double)otf2_events_ns(&r->defs, time - r->left) * 1e-9, 0,
				r->err);
			r->left = time;
		}
		r->phases--;
		return next(r, rc ? rc : phase_set(r));
	}
	if (!is_mpi || !r->depth || --r->depth)
		return OTF2_CALLBACK_SUCCESS;
	for (uint32_t i = 0; i < r->npending && !rc; i++)
		rc = program_wait(r->p, r->rank, r->pending[i], 0, r->err);
	r->npending = 0;
	if (is_init || r->span != ZGRAPH_SPANS) {
		r->left = time;
		r->computes = !is_end;
	}
	return next(r, rc);
}

/* --- reading --- */

static OTF2_EvtReaderCallbacks *callbacks_make(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
	bool ok =
		c && OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, send_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, isend_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, isend_end_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, recv_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, irecv_begin_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, irecv_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, collective_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, nonblocking_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, put_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, get_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, atomic_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetEnterCallback(c, enter_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetLeaveCallback(c, leave_take) == OTF2_SUCCESS;

	if (ok)
		return c;
	if (c)
		OTF2_EvtReaderCallbacks_Delete(c);
	return NULL;
}

static int location_begin(void *arg, uint32_t rank)
{
	struct reading *r = arg;

	r->rank = rank;
	r->other = r->p->rank && r->p->rank[rank].n;
	r->depth = 0;
	r->computes = false;
	r->phases = 0;
	r->npending = 0;
	return r->p->rank ? 0 : program_create(r->p, r->path, r->trace.ranks, r->err);
}

static int location_end(void *arg)
{
	(void)arg;
	return 0;
}

int otf2_program_read(struct program *p, const char *path, struct zerr *err)
{
	struct reading r = {.p = p, .path = path, .err = err};
	struct otf2_events events = {callbacks_make, location_begin, location_end, &r, &r.rc};
	int rc;

	*p = (struct program){0};
	rc = otf2_events_read(&events, path, &r.defs, &r.trace, err);
	free(r.pending);
	otf2_defs_free(&r.defs);
	trace_free(&r.trace);
	return rc;
}

#else

int otf2_program_read(struct program *p, const char *path, struct zerr *err)
{
	*p = (struct program){0};
	return zerr_set(err, -ENOTSUP, "%s: this zipmap was built without OTF2, which reads such traces", path);
}

#endif
