/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of OTF2 traces as programs, see otf2_program.h. */
#include "mapper/trace/otf2_program.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_OTF2

#include "mapper/trace/otf2_colls.h"
#include "mapper/trace/otf2_messages.h"

/* --- time and phases --- */

static bool is_poll(enum zgraph_span span)
{
	return span == ZGRAPH_SPAN_TEST || span == ZGRAPH_SPAN_PROBE;
}

static OTF2_CallbackCode enter_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct otf2_reading *r = arg;
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
		if (r->phases < OTF2_PHASES_MAX)
			r->phase[r->phases] = phase;
		r->phases++;
		rc = otf2_reading_phase(r);
	}
	if (is_mpi && !r->depth++) {
		r->span = span;
		r->completed = false;
	}
	return otf2_reading_next(r, rc);
}

static OTF2_CallbackCode leave_take(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *arg,
	OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct otf2_reading *r = arg;
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
		return otf2_reading_next(r, rc ? rc : otf2_reading_phase(r));
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
	return otf2_reading_next(r, rc);
}

/* --- reading --- */

static OTF2_EvtReaderCallbacks *callbacks_make(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

	if (c && otf2_messages_set(c) && otf2_colls_set(c) &&
		OTF2_EvtReaderCallbacks_SetEnterCallback(c, enter_take) == OTF2_SUCCESS &&
		OTF2_EvtReaderCallbacks_SetLeaveCallback(c, leave_take) == OTF2_SUCCESS)
		return c;
	if (c)
		OTF2_EvtReaderCallbacks_Delete(c);
	return NULL;
}

static int program_make(struct otf2_reading *r)
{
	int rc = program_create(r->p, r->path, r->trace.ranks, r->err);

	if (!rc)
		rc = program_create(&r->ahead, r->path, r->trace.ranks, r->err);
	r->taken = calloc(r->trace.ranks, sizeof(*r->taken));
	r->comm = calloc(r->trace.comms + (size_t)1, sizeof(*r->comm));
	return rc ? rc : r->taken && r->comm ? 0 : otf2_reading_memory(r);
}

static int location_begin(void *arg, uint32_t number)
{
	struct otf2_reading *r = arg;
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
	struct otf2_reading *r = arg;
	struct program_rank *rank = &r->p->rank[r->rank], *ahead = &r->ahead.rank[r->rank];
	int rc = otf2_colls_finish(r);

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
	struct otf2_reading r = {.p = p, .path = path, .err = err};
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
