/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the events of OTF2 traces, see otf2_trace.h. */
#include "mapper/trace/otf2_trace.h"

#include <errno.h>
#include <string.h>

bool otf2_trace_is(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".otf2");
}

#ifdef HAVE_OTF2

#include "mapper/trace/otf2_events.h"

/* The state of reading the events of one location after the other. */
struct reading {
	struct trace *trace;
	struct otf2_defs defs;
	struct zerr *err;
	int rc; /* of a callback */
	/* of the location: */
	uint32_t rank;
	unsigned depth;	       /* of MPI functions that are entered */
	enum zgraph_span span; /* of the outermost of them */
	uint64_t since;	       /* ticks */
	uint64_t begin, end;   /* of the run, ticks */
	bool begun, ended;
};

/* --- events --- */

static OTF2_CallbackCode next(struct reading *r, int rc)
{
	r->rc = rc;
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static int message_take(struct reading *r, const struct otf2_comm *c, uint64_t rank, enum zgraph_class class,
	uint64_t bytes)
{
	uint32_t peer = 0;
	int rc = otf2_events_peer(r->trace, c, r->rank, rank, &peer, r->err);

	return rc ? rc : trace_add_message(r->trace, r->rank, class, peer, bytes, 1, r->err);
}

static OTF2_CallbackCode send_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct reading *r = arg;
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, comm);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)tag;
	return next(r, c ? message_take(r, c, receiver, ZGRAPH_P2P, bytes)
			 : otf2_events_unknown(r->rank, "communicator", comm, r->err));
}

static OTF2_CallbackCode isend_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
	uint64_t request)
{
	(void)request;
	return send_take(location, time, at, arg, attributes, receiver, comm, tag, bytes);
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
	call.comm = c->comm;
	return next(r, trace_add_call(r->trace, &call, r->err));
}

static OTF2_CallbackCode nonblocking_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received, uint64_t request)
{
	(void)request;
	return collective_take(location, time, at, arg, attributes, op, comm, root, sent, received);
}

static int window_take(struct reading *r, OTF2_RmaWinRef win, uint32_t remote, enum zgraph_class class, uint64_t bytes)
{
	const struct otf2_comm *c = otf2_defs_window(&r->defs, win);

	if (!bytes)
		return 0;
	return c ? message_take(r, c, remote, class, bytes) : otf2_events_unknown(r->rank, "window", win, r->err);
}

static OTF2_CallbackCode put_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)id;
	return next(arg, window_take(arg, win, remote, ZGRAPH_PUT, bytes));
}

static OTF2_CallbackCode get_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)id;
	return next(arg, window_take(arg, win, remote, ZGRAPH_GET, bytes));
}

static OTF2_CallbackCode atomic_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
	uint64_t received, uint64_t id)
{
	int rc = window_take(arg, win, remote, ZGRAPH_PUT, sent);

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	(void)type;
	(void)id;
	return next(arg, rc ? rc : window_take(arg, win, remote, ZGRAPH_GET, received));
}

/* --- time --- */

static OTF2_CallbackCode enter_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct reading *r = arg;
	bool is_mpi, is_init, is_end;
	enum zgraph_span span = otf2_defs_region(&r->defs, region, &is_mpi, &is_init, &is_end);

	(void)location;
	(void)at;
	(void)attributes;
	if (!is_mpi || r->depth++)
		return OTF2_CALLBACK_SUCCESS;
	r->span = span;
	r->since = time;
	if (is_end && !r->ended) {
		r->end = time;
		r->ended = true;
	}
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode leave_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct reading *r = arg;
	bool is_mpi, is_init, is_end;

	(void)location;
	(void)at;
	(void)attributes;
	otf2_defs_region(&r->defs, region, &is_mpi, &is_init, &is_end);
	if (!is_mpi || !r->depth || --r->depth)
		return OTF2_CALLBACK_SUCCESS;
	if (is_init) {
		r->begin = time;
		r->begun = true;
	}
	if (r->span == ZGRAPH_SPANS || time < r->since)
		return OTF2_CALLBACK_SUCCESS;
	return next(r,
		trace_add_time(r->trace, r->rank, r->span, 1, otf2_events_ns(&r->defs, time - r->since), r->err));
}

/* --- reading --- */

static OTF2_EvtReaderCallbacks *callbacks_make(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
	bool ok =
		c && OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, send_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, isend_take) == OTF2_SUCCESS &&
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
	struct reading begin = {.trace = r->trace, .defs = r->defs, .err = r->err, .rank = rank};

	*r = begin;
	return 0;
}

static int location_end(void *arg)
{
	struct reading *r = arg;

	if (!r->begun || !r->ended || r->end < r->begin)
		return 0;
	return trace_add_time(r->trace, r->rank, ZGRAPH_SPAN_RUN, 1, otf2_events_ns(&r->defs, r->end - r->begin),
		r->err);
}

int otf2_trace_read(struct trace *t, const char *path, struct zerr *err)
{
	struct reading r = {.trace = t, .err = err};
	struct otf2_events events = {callbacks_make, location_begin, location_end, &r, &r.rc};
	int rc = otf2_events_read(&events, path, &r.defs, t, err);

	if (!rc)
		rc = trace_finish(t, err);
	otf2_defs_free(&r.defs);
	return rc;
}

#else

int otf2_trace_read(struct trace *t, const char *path, struct zerr *err)
{
	*t = (struct trace){0};
	return zerr_set(err, -ENOTSUP, "%s: this zipmap was built without OTF2, which reads such traces", path);
}

#endif
