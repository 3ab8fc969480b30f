/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of OTF2 traces as programs, see otf2_program.h. */
#include "mapper/trace/otf2_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_OTF2

#include "mapper/program/program_coll.h"
#include "mapper/trace/otf2_events.h"

#define PHASES_MAX 64 /* open at once; deeper ones do not count */

#define NOWHERE UINT32_MAX

/* A collective of the location, in the order in which they begin. Its operations are op[at..at + n) of the rank; or,
 * where ahead, those of `ahead`, to be put in place of op[at]. */
struct coll {
	uint32_t comm; /* OTF2_DEFS_NONE: it has no messages, or its end is not known */
	uint32_t at, n;
	uint32_t ahead; /* index; NOWHERE */
	bool begun;	/* nonblocking: op[at] only holds its place */
};

/* A nonblocking collective that is not complete. */
struct coll_open {
	uint64_t request;
	uint32_t coll; /* index */
};

/* What a rank knows of a communicator. */
struct coll_comm {
	uint32_t known; /* the rank, plus 1 */
	uint32_t place; /* of the rank */
	uint32_t colls; /* that have a number */
};

struct reading {
	struct program *p;
	struct trace trace; /* its ranks and communicators */
	struct otf2_defs defs;
	const char *path;
	struct zerr *err;
	int rc; /* of a callback */
	/* of the location: */
	uint32_t rank;
	bool mine;	       /* it is the location of the rank that calls MPI */
	bool *taken;	       /* [ranks]: a location of the rank calls MPI */
	struct program_op *op; /* [nop]: those of earlier locations of a rank, none of which calls MPI */
	uint32_t nop;
	unsigned depth;	       /* of MPI functions that are entered */
	enum zgraph_span span; /* of the outermost of them */
	uint64_t left;	       /* ticks: when the rank began to compute */
	bool computes;	       /* `left` is known */
	uint32_t *pending;     /* [npending]: slots of sends that the function waits for when it ends */
	uint32_t npending;
	bool polls;	   /* the function before was MPI_Test or MPI_Iprobe, in vain */
	bool completed;	   /* a request, in this function */
	struct coll *coll; /* [ncolls] */
	uint32_t ncolls;
	struct coll_open *open; /* [nopen] */
	uint32_t nopen;
	struct program ahead;	/* operations that begin ahead of the completion of their collective */
	struct coll_comm *comm; /* [trace.comms] */
	const char *phase[PHASES_MAX];
	unsigned phases;
};

static OTF2_CallbackCode next(struct reading *r, int rc)
{
	r->rc = rc;
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static int memory(struct reading *r)
{
	return zerr_set(r->err, -ENOMEM, "not enough memory");
}

/* Makes room for one more entry of a list, which grows whenever its length is a power of two. */
static void *room(void *list, uint32_t n, size_t size)
{
	return n & (n - 1) ? list : realloc(list, (n ? 2 * (size_t)n : 1) * size);
}

static int phase_set(struct reading *r)
{
	unsigned n = r->phases < PHASES_MAX ? r->phases : PHASES_MAX;

	return program_phase(r->p, r->rank, n ? r->phase[n - 1] : r->p->phases.name[0], 0, r->err);
}

/* Takes the location as the one of its rank that calls MPI. Of others neither phases nor computing count. */
static int location_take(struct reading *r)
{
	if (r->mine)
		return 0;
	if (r->taken[r->rank])
		return zerr_set(r->err, -ENOTSUP,
			"two threads of rank %u call MPI; their order is not known: trace a run in which one does",
			r->rank);
	r->mine = r->taken[r->rank] = true;
	return 0;
}

/* Makes an operation of an event: with the rank of the other end, and the key of the message. */
static int op_make(struct reading *r, enum program_kind kind, OTF2_CommRef ref, uint32_t number, uint32_t tag,
	uint64_t bytes, struct program_op *op)
{
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, ref);
	int rc = c ? location_take(r) : otf2_events_unknown(r->rank, "communicator", ref, r->err);

	if (rc)
		return rc;
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
	int rc = location_take(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->completed = true;
	if (!rc)
		rc = program_wait_numbered(r->p, r->rank, request, 0, r->err);
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
	int rc = location_take(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, rc ? rc : program_begin_numbered(r->p, r->rank, &op, request, r->err));
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
	r->completed = true;
	rc = program_tell(r->p, r->rank, request, op.peer, op.key, r->err);
	if (rc == -ENOENT)
		return next(r, program_do(r->p, r->rank, &op, r->err));
	return next(r, rc ? rc : program_wait_numbered(r->p, r->rank, request, 0, r->err));
}

/* A request that is cancelled has no message. */
static OTF2_CallbackCode cancel_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct reading *r = arg;
	int rc = location_take(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->completed = true;
	if (!rc)
		program_cancel(r->p, r->rank, request);
	return next(r, rc);
}

/* --- collectives --- */

static int coll_new(struct reading *r, struct coll coll)
{
	struct coll *more = room(r->coll, r->ncolls, sizeof(*more));

	if (!more)
		return memory(r);
	r->coll = more;
	more[r->ncolls++] = coll;
	return 0;
}

static struct coll_comm *comm_of(struct reading *r, uint32_t comm)
{
	struct coll_comm *c = &r->comm[comm];

	if (c->known != r->rank + 1)
		*c = (struct coll_comm){r->rank + 1, trace_place(&r->trace.comm[comm], r->rank), 0};
	return c;
}

/* What a rank does in a collective. */
static int coll_make(struct reading *r, const struct trace_call *call, struct program_coll *coll)
{
	const struct trace_comm *comm = &r->trace.comm[call->comm];
	uint64_t handed;

	*coll = (struct program_coll){.kind = call->kind,
		.member = comm->member,
		.n = comm->n,
		.comm = call->comm,
		.rank = comm_of(r, call->comm)->place};
	if (coll->rank == comm->n)
		return zerr_set(r->err, -EINVAL, "a collective of rank %u on a communicator without it", r->rank);
	coll->root = trace_has_root(call->kind) ? call->root : 0;
	if (coll->root >= comm->n)
		return zerr_set(r->err, -EINVAL, "a collective with root %u on a communicator of %u", coll->root,
			comm->n);
	coll->bytes = trace_unit(call, coll->rank, comm->n, &handed);
	if (call->kind == ZGRAPH_ALLGATHERV && comm->n > 1) /* of all blocks that are passed on */
		coll->bytes /= comm->n - 1;
	return 0;
}

/* Whether the operations may wait for each other at the completion: the rank does nothing else before. Else all of them
 * begin with the collective, as other ranks may need them before the completion. */
static bool waits_in_steps(const struct reading *r, const struct coll *coll, enum zgraph_kind kind)
{
	const struct program_rank *rank = &r->p->rank[r->rank];

	if (kind == ZGRAPH_ALLTOALL || kind == ZGRAPH_ALLTOALLV || kind == ZGRAPH_ALLTOALLW ||
		kind == ZGRAPH_REDUCE_SCATTER || kind == ZGRAPH_REDUCE_SCATTER_BLOCK)
		return false;
	for (const struct coll *c = coll + 1; c < r->coll + r->ncolls; c++)
		if (c->begun)
			return false;
	for (uint32_t i = coll->at + 1; i < rank->n; i++)
		if (rank->op[i].kind != PROGRAM_COMPUTE && rank->op[i].kind != PROGRAM_PHASE)
			return false;
	return true;
}

/* Begins all operations where the collective began, and waits for them here. */
static int coll_ahead(struct reading *r, struct coll *coll, const struct program_coll *what)
{
	struct program_rank *rank = &r->p->rank[r->rank], *ahead = &r->ahead.rank[r->rank];
	uint32_t n = ahead->n, to = n;
	int rc = program_coll(&r->ahead, what, r->err);

	coll->ahead = n;
	for (uint32_t i = n; i < ahead->n && !rc; i++) {
		struct program_op op = ahead->op[i];

		if (op.kind == PROGRAM_WAIT)
			continue;
		op.slot = rank->slots++; /* one that nothing had in the meantime */
		ahead->op[to++] = op;
		rc = program_wait(r->p, r->rank, op.slot, 0, r->err);
	}
	ahead->n = to;
	coll->n = to - n;
	return rc;
}

/* A collective, which is complete; and where it began, if known. */
static int coll_add(struct reading *r, const struct otf2_comm *c, struct trace_call *call, struct coll *began)
{
	struct program_rank *rank = &r->p->rank[r->rank];
	struct program_coll coll;
	int rc = location_take(r);

	call->comm = c->comm;
	if (rc || r->trace.comm[c->comm].first) /* between two groups */
		return rc;
	rc = coll_make(r, call, &coll);
	if (!rc && !began) {
		rc = coll_new(r, (struct coll){c->comm, rank->n, 0, NOWHERE, false});
		began = &r->coll[r->ncolls - 1];
	} else if (!rc && !waits_in_steps(r, began, call->kind)) {
		began->comm = c->comm;
		return coll_ahead(r, began, &coll);
	} else if (!rc) {
		began->comm = c->comm;
		began->begun = false;
		began->at = rank->n;
	}
	if (!rc)
		rc = program_coll(r->p, &coll, r->err);
	if (!rc)
		began->n = rank->n - began->at;
	return rc;
}

static int event_add(struct reading *r, OTF2_CollectiveOp op, OTF2_CommRef ref, struct trace_call *call,
	struct coll *began)
{
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, ref);
	bool creates = op == OTF2_COLLECTIVE_OP_CREATE_HANDLE || op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE;

	call->kind = creates ? ZGRAPH_BARRIER : otf2_events_kind(op);
	if (creates) /* also a rank that is not in it may say so */
		c = c && c->comm != OTF2_DEFS_NONE &&
				    trace_place(&r->trace.comm[c->comm], r->rank) < r->trace.comm[c->comm].n
			    ? c
			    : NULL;
	if (call->kind == ZGRAPH_KINDS || (creates && !c) || (c && c->self)) /* alone, a rank sends nothing */
		return 0;
	if (!c || c->comm == OTF2_DEFS_NONE)
		return otf2_events_unknown(r->rank, "communicator", ref, r->err);
	return coll_add(r, c, call, began);
}

static OTF2_CallbackCode collective_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received)
{
	struct reading *r = arg;
	struct trace_call call = {.rank = r->rank, .root = root, .sent = sent, .received = received};

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return next(r, event_add(r, op, comm, &call, NULL));
}

static OTF2_CallbackCode nonblocking_begin_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct reading *r = arg;
	struct program_rank *rank = &r->p->rank[r->rank];
	struct coll_open *more = room(r->open, r->nopen, sizeof(*more));
	int rc = more ? location_take(r) : memory(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->open = more ? more : r->open;
	if (!rc)
		rc = phase_set(r); /* holds the place */
	if (!rc)
		rc = coll_new(r, (struct coll){OTF2_DEFS_NONE, rank->n - 1, 0, NOWHERE, true});
	if (!rc)
		more[r->nopen++] = (struct coll_open){request, r->ncolls - 1};
	return next(r, rc);
}

static OTF2_CallbackCode nonblocking_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received, uint64_t request)
{
	struct reading *r = arg;
	struct trace_call call = {.rank = r->rank, .root = root, .sent = sent, .received = received};
	struct coll *began = NULL;

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->completed = true;
	for (uint32_t i = 0; i < r->nopen && !began; i++)
		if (r->open[i].request == request) {
			began = &r->coll[r->open[i].coll];
			r->open[i] = r->open[--r->nopen];
		}
	return next(r, event_add(r, op, comm, &call, began));
}

static void ops_number(struct program_op *op, uint32_t n, uint32_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (op[i].kind == PROGRAM_SEND || op[i].kind == PROGRAM_RECV)
			op[i].key |= (uint64_t)(number & INT32_MAX) << 32;
}

/* Once all collectives of the location are known: numbers those of each communicator in the keys of their messages, and
 * puts operations where their collectives began. */
static int colls_finish(struct reading *r)
{
	struct program_rank *rank = &r->p->rank[r->rank], *ahead = &r->ahead.rank[r->rank];
	struct program_op *list;
	uint32_t from = 0, n = 0;

	for (uint32_t i = 0; i < r->ncolls; i++) {
		const struct coll *c = &r->coll[i];

		if (c->n)
			ops_number(c->ahead == NOWHERE ? rank->op + c->at : ahead->op + c->ahead, c->n,
				comm_of(r, c->comm)->colls++);
	}
	if (!ahead->n)
		return 0;
	if (rank->n + (uint64_t)ahead->n > PROGRAM_OPS_MAX)
		return zerr_set(r->err, -E2BIG, "rank %u has more than %u operations", r->rank, PROGRAM_OPS_MAX);
	list = malloc(((size_t)rank->n + ahead->n) * sizeof(*list));
	if (!list)
		return memory(r);
	for (uint32_t i = 0; i < r->ncolls; i++) {
		const struct coll *c = &r->coll[i];

		if (c->ahead == NOWHERE)
			continue;
		memcpy(list + n, rank->op + from, (c->at - from) * sizeof(*list));
		n += c->at - from;
		memcpy(list + n, ahead->op + c->ahead, c->n * sizeof(*list));
		n += c->n;
		from = c->at + 1;
	}
	memcpy(list + n, rank->op + from, (rank->n - from) * sizeof(*list));
	n += rank->n - from;
	free(rank->op);
	rank->op = list;
	rank->n = n;
	return 0;
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

/* The ranks of a window wait for each other: fences, and windows that are made or freed. */
static OTF2_CallbackCode fence_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
	uint32_t root, uint64_t sent, uint64_t received)
{
	struct reading *r = arg;
	const struct otf2_comm *c = otf2_defs_window(&r->defs, win);
	struct trace_call call = {.kind = ZGRAPH_BARRIER, .rank = r->rank};

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)op;
	(void)root;
	(void)sent;
	(void)received;
	if (!(level & OTF2_RMA_SYNC_LEVEL_PROCESS) || (c && c->self))
		return OTF2_CALLBACK_SUCCESS;
	if (!c || c->comm == OTF2_DEFS_NONE)
		return next(r, otf2_events_unknown(r->rank, "window", win, r->err));
	return next(r, coll_add(r, c, &call, NULL));
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

static bool is_poll(enum zgraph_span span)
{
	return span == ZGRAPH_SPAN_TEST || span == ZGRAPH_SPAN_PROBE;
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
	if (r->taken[r->rank] && !r->mine) /* another thread */
		return OTF2_CALLBACK_SUCCESS;
	if (is_mpi && !r->depth && is_poll(span) && r->polls) /* it only waits */
		r->left = time;
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
	if (is_mpi && !r->depth++) {
		r->span = span;
		r->completed = false;
	}
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
	if (r->taken[r->rank] && !r->mine)
		return OTF2_CALLBACK_SUCCESS;
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
		r->polls = is_poll(r->span) && !r->completed;
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
		OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, cancel_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, collective_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, nonblocking_begin_take) ==
			OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, nonblocking_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, fence_take) == OTF2_SUCCESS &&
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

static int program_make(struct reading *r)
{
	int rc = program_create(r->p, r->path, r->trace.ranks, r->err);

	if (!rc)
		rc = program_create(&r->ahead, r->path, r->trace.ranks, r->err);
	r->taken = calloc(r->trace.ranks, sizeof(*r->taken));
	r->comm = calloc(r->trace.comms + (size_t)1, sizeof(*r->comm));
	return rc ? rc : r->taken && r->comm ? 0 : memory(r);
}

static int location_begin(void *arg, uint32_t number)
{
	struct reading *r = arg;
	int rc = r->p->rank ? 0 : program_make(r);
	struct program_rank *rank = rc ? NULL : &r->p->rank[number];

	r->rank = number;
	r->mine = false;
	r->depth = 0;
	r->computes = r->polls = r->completed = false;
	r->phases = 0;
	r->npending = 0;
	r->ncolls = r->nopen = 0;
	if (!rc && !r->taken[number]) { /* this location may be the one that calls MPI, or not */
		r->op = rank->op;
		r->nop = rank->n;
		rank->op = NULL;
		rank->n = 0;
	}
	return rc;
}

static int location_end(void *arg)
{
	struct reading *r = arg;
	struct program_rank *rank = &r->p->rank[r->rank], *ahead = &r->ahead.rank[r->rank];
	int rc = colls_finish(r);

	if (r->taken[r->rank] || !r->nop) {
		free(r->op);
	} else { /* neither calls MPI: the first one counts */
		free(rank->op);
		rank->op = r->op;
		rank->n = r->nop;
	}
	r->op = NULL;
	r->nop = 0;
	free(ahead->op);
	free(ahead->unused);
	*ahead = (struct program_rank){0};
	return rc;
}

int otf2_program_read(struct program *p, const char *path, struct zerr *err)
{
	struct reading r = {.p = p, .path = path, .err = err};
	struct otf2_events events = {callbacks_make, location_begin, location_end, &r, &r.rc};
	int rc;

	*p = (struct program){0};
	rc = otf2_events_read(&events, path, &r.defs, &r.trace, err);
	free(r.pending);
	free(r.taken);
	free(r.op);
	free(r.coll);
	free(r.open);
	free(r.comm);
	program_free(&r.ahead);
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
