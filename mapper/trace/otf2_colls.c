/* SPDX-License-Identifier: BSD-3-Clause */
/* See otf2_colls.h. */
#ifdef HAVE_OTF2

#include "mapper/trace/otf2_colls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/program/program_coll.h"

/* Makes room for one more entry of a list, which grows whenever its length is a power of two. */
static void *room(void *list, uint32_t n, size_t size)
{
	return n & (n - 1) ? list : realloc(list, (n ? 2 * (size_t)n : 1) * size);
}

/* --- collectives --- */

static int coll_new(struct otf2_reading *r, struct otf2_coll coll)
{
	struct otf2_coll *more = room(r->coll, r->ncolls, sizeof(*more));

	if (!more)
		return otf2_reading_memory(r);
	r->coll = more;
	more[r->ncolls++] = coll;
	return 0;
}

static struct otf2_coll_comm *comm_of(struct otf2_reading *r, uint32_t comm)
{
	struct otf2_coll_comm *c = &r->comm[comm];

	if (c->known != r->rank + 1)
		*c = (struct otf2_coll_comm){r->rank + 1, trace_place(&r->trace.comm[comm], r->rank), 0};
	return c;
}

/* What a rank does in a collective. */
static int coll_make(struct otf2_reading *r, const struct trace_call *call, struct program_coll *coll)
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
static bool waits_in_steps(const struct otf2_reading *r, const struct otf2_coll *coll, enum zgraph_kind kind)
{
	const struct program_rank *rank = &r->p->rank[r->rank];

	if (kind == ZGRAPH_ALLTOALL || kind == ZGRAPH_ALLTOALLV || kind == ZGRAPH_ALLTOALLW ||
		kind == ZGRAPH_REDUCE_SCATTER || kind == ZGRAPH_REDUCE_SCATTER_BLOCK)
		return false;
	for (const struct otf2_coll *c = coll + 1; c < r->coll + r->ncolls; c++)
		if (c->begun)
			return false;
	for (uint32_t i = coll->at + 1; i < rank->n; i++)
		if (rank->op[i].kind != PROGRAM_COMPUTE && rank->op[i].kind != PROGRAM_PHASE)
			return false;
	return true;
}

/* Begins all operations where the collective began, and waits for them here. */
static int coll_ahead(struct otf2_reading *r, struct otf2_coll *coll, const struct program_coll *what)
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
static int coll_add(struct otf2_reading *r, const struct otf2_comm *c, struct trace_call *call, struct otf2_coll *began)
{
	struct program_rank *rank = &r->p->rank[r->rank];
	struct program_coll coll;
	int rc = otf2_reading_take(r);

	call->comm = c->comm;
	if (rc || r->trace.comm[c->comm].first) /* between two groups */
		return rc;
	rc = coll_make(r, call, &coll);
	if (!rc && !began) {
		rc = coll_new(r, (struct otf2_coll){c->comm, rank->n, 0, OTF2_NOWHERE, false});
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

static int event_add(struct otf2_reading *r, OTF2_CollectiveOp op, OTF2_CommRef ref, struct trace_call *call,
	struct otf2_coll *began)
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
	struct otf2_reading *r = arg;
	struct trace_call call = {.rank = r->rank, .root = root, .sent = sent, .received = received};

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	return otf2_reading_next(r, event_add(r, op, comm, &call, NULL));
}

static OTF2_CallbackCode nonblocking_begin_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint64_t request)
{
	struct otf2_reading *r = arg;
	struct program_rank *rank = &r->p->rank[r->rank];
	struct otf2_coll_open *more = room(r->open, r->nopen, sizeof(*more));
	int rc = more ? otf2_reading_take(r) : otf2_reading_memory(r);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	r->open = more ? more : r->open;
	if (!rc)
		rc = otf2_reading_phase(r); /* holds the place */
	if (!rc)
		rc = coll_new(r, (struct otf2_coll){OTF2_DEFS_NONE, rank->n - 1, 0, OTF2_NOWHERE, true});
	if (!rc)
		more[r->nopen++] = (struct otf2_coll_open){request, r->ncolls - 1};
	return otf2_reading_next(r, rc);
}

static OTF2_CallbackCode nonblocking_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received, uint64_t request)
{
	struct otf2_reading *r = arg;
	struct trace_call call = {.rank = r->rank, .root = root, .sent = sent, .received = received};
	struct otf2_coll *began = NULL;

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
	return otf2_reading_next(r, event_add(r, op, comm, &call, began));
}

static void ops_number(struct program_op *op, uint32_t n, uint32_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (op[i].kind == PROGRAM_SEND || op[i].kind == PROGRAM_RECV)
			op[i].key |= (uint64_t)(number & INT32_MAX) << 32;
}

int otf2_colls_finish(struct otf2_reading *r)
{
	struct program_rank *rank = &r->p->rank[r->rank], *ahead = &r->ahead.rank[r->rank];
	struct program_op *list;
	uint32_t from = 0, n = 0;

	for (uint32_t i = 0; i < r->ncolls; i++) {
		const struct otf2_coll *c = &r->coll[i];

		if (c->n)
			ops_number(c->ahead == OTF2_NOWHERE ? rank->op + c->at : ahead->op + c->ahead, c->n,
				comm_of(r, c->comm)->colls++);
	}
	if (!ahead->n)
		return 0;
	if (rank->n + (uint64_t)ahead->n > PROGRAM_OPS_MAX)
		return zerr_set(r->err, -E2BIG, "rank %u has more than %u operations", r->rank, PROGRAM_OPS_MAX);
	list = malloc(((size_t)rank->n + ahead->n) * sizeof(*list));
	if (!list)
		return otf2_reading_memory(r);
	for (uint32_t i = 0; i < r->ncolls; i++) {
		const struct otf2_coll *c = &r->coll[i];

		if (c->ahead == OTF2_NOWHERE)
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

/* The ranks of a window wait for each other: fences, and windows that are made or freed. */
static OTF2_CallbackCode fence_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
	uint32_t root, uint64_t sent, uint64_t received)
{
	struct otf2_reading *r = arg;
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
		return otf2_reading_next(r, otf2_events_unknown(r->rank, "window", win, r->err));
	return otf2_reading_next(r, coll_add(r, c, &call, NULL));
}

bool otf2_colls_set(OTF2_EvtReaderCallbacks *c)
{
	return OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, collective_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, nonblocking_begin_take) ==
		       OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, nonblocking_take) == OTF2_SUCCESS &&
	       OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, fence_take) == OTF2_SUCCESS;
}

#endif
