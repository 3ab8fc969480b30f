/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an OTF2 trace and walks over its locations, see otf2_events.h. */
#ifdef HAVE_OTF2

#include "mapper/trace/otf2_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

/* --- what events mean --- */

int otf2_events_unknown(uint32_t rank, const char *what, uint64_t ref, struct zerr *err)
{
	return zerr_set(err, -EINVAL, "rank %u uses %s %llu, which is not defined", rank, what,
		(unsigned long long)ref);
}

int otf2_events_peer(const struct trace *t, const struct otf2_comm *c, uint32_t self, uint64_t rank, uint32_t *peer,
	struct zerr *err)
{
	const struct trace_comm *comm = c->comm == OTF2_DEFS_NONE ? NULL : &t->comm[c->comm];
	uint32_t first = 0, n;

	if (c->self) {
		*peer = self;
		return 0;
	}
	if (c->global && rank >= t->ranks)
		return zerr_set(err, -EINVAL, "rank %u names rank %llu of %u", self, (unsigned long long)rank,
			t->ranks);
	if (c->global) {
		*peer = (uint32_t)rank;
		return 0;
	}
	if (!comm)
		return otf2_events_unknown(self, "communicator", c->ref, err);
	n = comm->n;
	if (comm->first) { /* a rank of the other group */
		for (n = 0; n < comm->first && comm->member[n] != self; n++)
			;
		first = n < comm->first ? comm->first : 0;
		n = first ? comm->n - first : comm->first;
	}
	if (rank >= n)
		return zerr_set(err, -EINVAL, "rank %u names rank %llu of a communicator of %u", self,
			(unsigned long long)rank, n);
	*peer = comm->member[first + rank];
	return 0;
}

enum zgraph_kind otf2_events_kind(OTF2_CollectiveOp op)
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

uint64_t otf2_events_ns(const struct otf2_defs *d, uint64_t ticks)
{
	return d->ticks_second ? (uint64_t)((unsigned __int128)ticks * 1000000000u / d->ticks_second) : 0;
}

/* --- reading --- */

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

static int location_read(const struct otf2_events *e, OTF2_Reader *reader, OTF2_EvtReaderCallbacks *callbacks,
	uint64_t location, uint32_t rank, const char *path, struct zerr *err)
{
	OTF2_EvtReader *from = OTF2_Reader_GetEvtReader(reader, location);
	uint64_t n;
	bool ok = from && OTF2_Reader_RegisterEvtCallbacks(reader, from, callbacks, e->arg) == OTF2_SUCCESS &&
		  OTF2_Reader_ReadAllLocalEvents(reader, from, &n) == OTF2_SUCCESS;

	if (from)
		OTF2_Reader_CloseEvtReader(reader, from);
	if (*e->rc)
		return zerr_prefix(err, *e->rc, "%s", path);
	if (!ok)
		return zerr_set(err, -EINVAL, "%s: the events of rank %u cannot be read", path, rank);
	return e->end(e->arg);
}

static int locations_read(const struct otf2_events *e, OTF2_Reader *reader, const struct otf2_defs *defs,
	const char *path, struct zerr *err)
{
	OTF2_EvtReaderCallbacks *callbacks = e->callbacks();
	bool tables, ok = callbacks != NULL;
	int rc = 0;

	for (size_t i = 0; i < defs->locations && ok; i++) {
		uint32_t rank;
		uint64_t location = otf2_defs_location(defs, i, &rank);

		if (rank != OTF2_DEFS_NONE)
			ok = OTF2_Reader_SelectLocation(reader, location) == OTF2_SUCCESS;
	}
	/* a trace may have no such files: then all numbers are those of all */
	tables = ok && OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
	ok = ok && OTF2_Reader_OpenEvtFiles(reader) == OTF2_SUCCESS;
	if (!ok)
		rc = zerr_set(err, -EINVAL, "%s: its events cannot be read", path);
	for (size_t i = 0; i < defs->locations && !rc; i++) {
		uint32_t rank;
		uint64_t location = otf2_defs_location(defs, i, &rank);

		if (rank == OTF2_DEFS_NONE)
			continue;
		rc = e->begin(e->arg, rank);
		if (!rc && tables && !local_read(reader, location))
			rc = zerr_set(err, -EINVAL, "%s: the definitions of rank %u cannot be read", path, rank);
		if (!rc)
			rc = location_read(e, reader, callbacks, location, rank, path, err);
	}
	if (tables)
		OTF2_Reader_CloseDefFiles(reader);
	if (ok)
		OTF2_Reader_CloseEvtFiles(reader);
	if (callbacks)
		OTF2_EvtReaderCallbacks_Delete(callbacks);
	return rc;
}

int otf2_events_read(const struct otf2_events *e, const char *path, struct otf2_defs *defs, struct trace *t,
	struct zerr *err)
{
	struct zerr said = {""};
	OTF2_Reader *reader;
	FILE *f = fopen(path, "re");
	int rc = f ? 0 : zerr_set(err, -errno, "%s: %s", path, strerror(errno));

	*t = (struct trace){0};
	*defs = (struct otf2_defs){0};
	if (!f)
		return rc;
	fclose(f);
	OTF2_Error_RegisterCallback(complaint_take, &said);
	reader = OTF2_Reader_Open(path);
	if (!reader || OTF2_Reader_SetSerialCollectiveCallbacks(reader) != OTF2_SUCCESS) {
		rc = zerr_set(err, -EINVAL, "%s: no trace of OTF2: %.400s", path, said.text);
	} else {
		rc = otf2_defs_read(defs, reader, path, t, err);
		if (!rc)
			rc = locations_read(e, reader, defs, path, err);
	}
	if (reader)
		OTF2_Reader_Close(reader);
	OTF2_Error_RegisterCallback(NULL, NULL);
	return rc;
}

#endif
