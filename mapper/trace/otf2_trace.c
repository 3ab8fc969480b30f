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

#include <stdio.h>

#include "mapper/trace/otf2_defs.h"

/* The state of reading the events of one location after the other. */
struct reading {
	struct trace *trace;
	struct otf2_defs defs;
	const char *path;
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

/* What the library says of an error, instead of a text on stderr. The first one counts. */
static OTF2_ErrorCode complaint_take(void *arg, const char *file, uint64_t line, const char *function,
	OTF2_ErrorCode code, const char *format, va_list args)
{
	struct zerr *said = arg;

	(void)file;
	(void)line;
	(void)function;
	if (!*said->text && code != OTF2_SUCCESS) {
		char text[512];

		vsnprintf(text, sizeof(text), format, args);
		zerr_set(said, -EINVAL, "%s: %s", OTF2_Error_GetDescription(code), text);
		for (char *c = said->text; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
	}
	return code;
}

/* --- events --- */

static OTF2_CallbackCode next(struct reading *r, int rc)
{
	r->rc = rc;
	return rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static int unknown(const struct reading *r, const char *what, uint64_t ref)
{
	return zerr_set(r->err, -EINVAL, "rank %u uses %s %llu, which is not defined", r->rank, what,
		(unsigned long long)ref);
}

/* The rank in the world of a rank in an event. */
static int peer_find(const struct reading *r, const struct otf2_comm *c, uint64_t rank, uint32_t *peer)
{
	const struct trace_comm *comm = c->comm == OTF2_DEFS_NONE ? NULL : &r->trace->comm[c->comm];
	uint32_t first = 0, n;

	if (c->self || c->global) {
		*peer = c->self ? r->rank : (uint32_t)rank;
		return 0;
	}
	if (!comm)
		return unknown(r, "communicator", c->ref);
	n = comm->n;
	if (comm->first) { /* a rank of the other group */
		for (n = 0; n < comm->first && comm->member[n] != r->rank; n++)
			;
		first = n < comm->first ? comm->first : 0;
		n = first ? comm->n - first : comm->first;
	}
	if (rank >= n)
		return zerr_set(r->err, -EINVAL, "rank %u sends to rank %llu of a communicator of %u", r->rank,
			(unsigned long long)rank, n);
	*peer = comm->member[first + rank];
	return 0;
}

static int message_take(struct reading *r, const struct otf2_comm *c, uint64_t rank, enum zgraph_class class,
	uint64_t bytes)
{
	uint32_t peer = 0;
	int rc = peer_find(r, c, rank, &peer);

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
	return next(r, c ? message_take(r, c, receiver, ZGRAPH_P2P, bytes) : unknown(r, "communicator", comm));
}

static OTF2_CallbackCode isend_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
	uint64_t request)
{
	(void)request;
	return send_take(location, time, at, arg, attributes, receiver, comm, tag, bytes);
}

/* The kind of a collective operation; ZGRAPH_KINDS: it moves no data, or is unknown. */
static enum zgraph_kind kind_of(OTF2_CollectiveOp op)
{
	static const uint8_t kinds[] = {[OTF2_COLLECTIVE_OP_BARRIER] = ZGRAPH_BARRIER,
		[OTF2_COLLECTIVE_OP_BCAST] = ZGRAPH_BCAST,
		[OTF2_COLLECTIVE_OP_GATHER] = ZGRAPH_GATHER,
		[OTF2_COLLECTIVE_OP_GATHERV] = ZGRAPH_GATHERV,
		[OTF2_COLLECTIVE_OP_SCATTER] = ZGRAPH_SCATTER,
		[OTF2_COLLECTIVE_OP_SCATTERV] = ZGRAPH_SCATTERV,
		[OTF2_COLLECTIVE_OP_ALLGATHER] = ZGRAPH_ALLGATHER,
		[OTF2_COLLECTIVE_OP_ALLGATHERV] = ZGRAPH_ALLGATHERV,
		[OTF2_COLLECTIVE_OP_ALLTOALL] = ZGRAPH_ALLTOALL,
		[OTF2_COLLECTIVE_OP_ALLTOALLV] = ZGRAPH_ALLTOALLV,
		[OTF2_COLLECTIVE_OP_ALLTOALLW] = ZGRAPH_ALLTOALLW,
		[OTF2_COLLECTIVE_OP_ALLREDUCE] = ZGRAPH_ALLREDUCE,
		[OTF2_COLLECTIVE_OP_REDUCE] = ZGRAPH_REDUCE,
		[OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = ZGRAPH_REDUCE_SCATTER,
		[OTF2_COLLECTIVE_OP_SCAN] = ZGRAPH_SCAN,
		[OTF2_COLLECTIVE_OP_EXSCAN] = ZGRAPH_EXSCAN,
		[OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = ZGRAPH_REDUCE_SCATTER_BLOCK};

	return op < sizeof(kinds) ? (enum zgraph_kind)kinds[op] : ZGRAPH_KINDS;
}

static OTF2_CallbackCode collective_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
	uint64_t received)
{
	struct reading *r = arg;
	const struct otf2_comm *c = otf2_defs_comm(&r->defs, comm);
	struct trace_call call = {kind_of(op), r->rank, 0, root, sent, received};

	(void)location;
	(void)time;
	(void)at;
	(void)attributes;
	if (call.kind == ZGRAPH_KINDS || (c && c->self)) /* alone, a rank sends nothing */
		return OTF2_CALLBACK_SUCCESS;
	if (!c || c->comm == OTF2_DEFS_NONE)
		return next(r, unknown(r, "communicator", comm));
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
	return c ? message_take(r, c, remote, class, bytes) : unknown(r, "window", win);
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

static uint64_t nanoseconds(const struct reading *r, uint64_t ticks)
{
	return r->defs.ticks_second ? (uint64_t)((unsigned __int128)ticks * 1000000000u / r->defs.ticks_second) : 0;
}

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
	return next(r, trace_add_time(r->trace, r->rank, r->span, 1, nanoseconds(r, time - r->since), r->err));
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

/* Reads the table from the numbers of one location to those of all, where there is one. */
static bool local_read(OTF2_Reader *reader, uint64_t location)
{
	OTF2_DefReader *from = OTF2_Reader_GetDefReader(reader, location);
	uint64_t n;
	bool ok = !from || OTF2_Reader_ReadAllLocalDefinitions(reader, from, &n) == OTF2_SUCCESS;

	if (from)
		OTF2_Reader_CloseDefReader(reader, from);
	return ok;
}

static int location_read(struct reading *r, OTF2_Reader *reader, OTF2_EvtReaderCallbacks *callbacks, uint64_t location)
{
	OTF2_EvtReader *from = OTF2_Reader_GetEvtReader(reader, location);
	uint64_t n;
	bool ok = from && OTF2_Reader_RegisterEvtCallbacks(reader, from, callbacks, r) == OTF2_SUCCESS &&
		  OTF2_Reader_ReadAllLocalEvents(reader, from, &n) == OTF2_SUCCESS;

	if (from)
		OTF2_Reader_CloseEvtReader(reader, from);
	if (r->rc)
		return zerr_prefix(r->err, r->rc, "%s", r->path);
	if (!ok)
		return zerr_set(r->err, -EINVAL, "%s: the events of rank %u cannot be read", r->path, r->rank);
	if (r->begun && r->ended && r->end >= r->begin)
		return trace_add_time(r->trace, r->rank, ZGRAPH_SPAN_RUN, 1, nanoseconds(r, r->end - r->begin), r->err);
	return 0;
}

static int events_read(struct reading *r, OTF2_Reader *reader)
{
	OTF2_EvtReaderCallbacks *callbacks = callbacks_make();
	bool tables, ok = callbacks != NULL;
	int rc = 0;

	for (size_t i = 0; i < r->defs.locations && ok; i++) {
		uint32_t rank;
		uint64_t location = otf2_defs_location(&r->defs, i, &rank);

		if (rank != OTF2_DEFS_NONE)
			ok = OTF2_Reader_SelectLocation(reader, location) == OTF2_SUCCESS;
	}
	/* a trace may have no such files: then all numbers are those of all */
	tables = ok && OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
	ok = ok && OTF2_Reader_OpenEvtFiles(reader) == OTF2_SUCCESS;
	if (!ok)
		rc = zerr_set(r->err, -EINVAL, "%s: its events cannot be read", r->path);
	for (size_t i = 0; i < r->defs.locations && !rc; i++) {
		struct reading begin = {.trace = r->trace, .defs = r->defs, .path = r->path, .err = r->err};
		uint64_t location = otf2_defs_location(&r->defs, i, &begin.rank);

		if (begin.rank == OTF2_DEFS_NONE)
			continue;
		*r = begin;
		if (tables && !local_read(reader, location))
			rc = zerr_set(r->err, -EINVAL, "%s: the definitions of rank %u cannot be read", r->path,
				r->rank);
		if (!rc)
			rc = location_read(r, reader, callbacks, location);
	}
	if (tables)
		OTF2_Reader_CloseDefFiles(reader);
	if (ok)
		OTF2_Reader_CloseEvtFiles(reader);
	if (callbacks)
		OTF2_EvtReaderCallbacks_Delete(callbacks);
	return rc;
}

int otf2_trace_read(struct trace *t, const char *path, struct zerr *err)
{
	struct reading r = {.trace = t, .path = path, .err = err};
	struct zerr said = {""};
	OTF2_Reader *reader;
	FILE *f = fopen(path, "re");
	int rc = f ? 0 : zerr_set(err, -errno, "%s: %s", path, strerror(errno));

	*t = (struct trace){0};
	if (!f)
		return rc;
	fclose(f);
	OTF2_Error_RegisterCallback(complaint_take, &said);
	reader = OTF2_Reader_Open(path);
	if (!reader || OTF2_Reader_SetSerialCollectiveCallbacks(reader) != OTF2_SUCCESS) {
		rc = zerr_set(err, -EINVAL, "%s: no trace of OTF2: %.400s", path, said.text);
	} else {
		rc = otf2_defs_read(&r.defs, reader, path, t, err);
		if (!rc)
			rc = events_read(&r, reader);
		if (!rc)
			rc = trace_finish(t, err);
	}
	if (reader)
		OTF2_Reader_Close(reader);
	OTF2_Error_RegisterCallback(NULL, NULL);
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
