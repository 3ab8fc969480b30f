/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads definitions of OTF2 traces, see otf2_defs.h. */
#ifdef HAVE_OTF2

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mapper/trace/otf2_defs.h"
#include "mapper/trace/trace_span.h"

/* All lists begin with the number in the trace, are sorted by it, and searched by it. */
struct otf2_location {
	uint64_t ref;
	uint64_t process; /* location group */
	uint32_t rank;
};

struct otf2_group {
	uint64_t ref;
	OTF2_GroupType type;
	bool global;
	uint64_t *member; /* [n] */
	uint32_t n;
};

struct otf2_window {
	uint64_t ref, comm;
};

struct otf2_function {
	uint64_t ref, name;
	enum zgraph_span span;
	bool is_init, is_end, is_phase;
};

struct otf2_string {
	uint64_t ref;
	char *text;
};

/* --- lists --- */

/* Adds a zeroed entry at the end of a list; NULL: out of memory. */
static void *entry_add(struct otf2_defs *d, void *list, size_t *n, size_t size)
{
	char *array;

	memcpy(&array, list, sizeof(array));
	if (!(*n & (*n - 1))) { /* it grows whenever its length is a power of two */
		array = realloc(array, (*n ? 2 * *n : 1) * size);
		if (!array) {
			d->rc = -ENOMEM;
			return NULL;
		}
		memcpy(list, &array, sizeof(array));
	}
	return memset(array + (*n)++ * size, 0, size);
}

static int ref_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static void list_sort(void *list, size_t n, size_t size)
{
	if (n)
		qsort(list, n, size, ref_compare);
}

static void *list_find(uint64_t ref, const void *list, size_t n, size_t size)
{
	return n ? bsearch(&ref, list, n, size, ref_compare) : NULL;
}

#define FIND(d, ref, list, n) list_find(ref, (d)->list, (d)->n, sizeof(*(d)->list))
#define SORT(d, list, n) list_sort((d)->list, (d)->n, sizeof(*(d)->list))

static OTF2_CallbackCode next(const struct otf2_defs *d)
{
	return d->rc ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

/* --- callbacks --- */

static OTF2_CallbackCode clock_take(void *arg, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t real)
{
	struct otf2_defs *d = arg;

	(void)offset;
	(void)length;
	(void)real;
	d->ticks_second = resolution;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode string_take(void *arg, OTF2_StringRef self, const char *text)
{
	struct otf2_defs *d = arg;
	struct otf2_string *s;

	s = entry_add(d, &d->string, &d->strings, sizeof(*s));
	if (s) {
		s->ref = self;
		s->text = strdup(text);
		d->rc = s->text ? 0 : -ENOMEM;
	}
	return next(d);
}

static OTF2_CallbackCode location_take(void *arg, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
	uint64_t events, OTF2_LocationGroupRef group)
{
	struct otf2_defs *d = arg;
	struct otf2_location *l = entry_add(d, &d->location, &d->locations, sizeof(*l));

	(void)name;
	(void)type;
	(void)events;
	if (l)
		*l = (struct otf2_location){self, group, OTF2_DEFS_NONE};
	return next(d);
}

static OTF2_CallbackCode region_take(void *arg, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
	OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
	OTF2_StringRef file, uint32_t begin, uint32_t end)
{
	struct otf2_defs *d = arg;
	struct otf2_function *f;

	(void)canonical;
	(void)description;
	(void)role;
	(void)file;
	(void)begin;
	(void)end;
	if (paradigm != OTF2_PARADIGM_MPI && !(flags & OTF2_REGION_FLAG_PHASE))
		return OTF2_CALLBACK_SUCCESS;
	f = entry_add(d, &d->function, &d->functions, sizeof(*f));
	if (f)
		*f = (struct otf2_function){.ref = self,
			.name = name,
			.span = ZGRAPH_SPANS,
			.is_phase = paradigm != OTF2_PARADIGM_MPI};
	return next(d);
}

static OTF2_CallbackCode group_take(void *arg, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
	OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
	struct otf2_defs *d = arg;
	struct otf2_group *g;

	(void)name;
	if (paradigm != OTF2_PARADIGM_MPI ||
		(type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
			type != OTF2_GROUP_TYPE_COMM_SELF))
		return OTF2_CALLBACK_SUCCESS;
	g = entry_add(d, &d->group, &d->groups, sizeof(*g));
	if (!g)
		return next(d);
	*g = (struct otf2_group){self, type, flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS, NULL, n};
	g->member = malloc((n + (size_t)1) * sizeof(*g->member));
	if (g->member)
		memcpy(g->member, members, n * sizeof(*members));
	else
		d->rc = -ENOMEM;
	return next(d);
}

static OTF2_CallbackCode comm_take(void *arg, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
	OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct otf2_defs *d = arg;
	struct otf2_comm *c = entry_add(d, &d->comm, &d->comms, sizeof(*c));

	(void)name;
	(void)parent;
	(void)flags;
	if (c)
		*c = (struct otf2_comm){.ref = self, .group = {group}};
	return next(d);
}

static OTF2_CallbackCode intercomm_take(void *arg, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a,
	OTF2_GroupRef b, OTF2_CommRef common, OTF2_CommFlag flags)
{
	struct otf2_defs *d = arg;
	struct otf2_comm *c = entry_add(d, &d->comm, &d->comms, sizeof(*c));

	(void)name;
	(void)common;
	(void)flags;
	if (c)
		*c = (struct otf2_comm){.ref = self, .group = {a, b}, .inter = true};
	return next(d);
}

static OTF2_CallbackCode window_take(void *arg, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
	OTF2_RmaWinFlag flags)
{
	struct otf2_defs *d = arg;
	struct otf2_window *w = entry_add(d, &d->window, &d->windows, sizeof(*w));

	(void)name;
	(void)flags;
	if (w)
		*w = (struct otf2_window){self, comm};
	return next(d);
}

static int definitions_read(struct otf2_defs *d, OTF2_Reader *reader)
{
	OTF2_GlobalDefReader *from = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t n;
	bool ok = from && c;

	ok = ok && OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, clock_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, string_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, location_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, region_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, group_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, comm_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, intercomm_take) == OTF2_SUCCESS &&
	     OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, window_take) == OTF2_SUCCESS &&
	     OTF2_Reader_RegisterGlobalDefCallbacks(reader, from, c, d) == OTF2_SUCCESS &&
	     OTF2_Reader_ReadAllGlobalDefinitions(reader, from, &n) == OTF2_SUCCESS;
	if (c)
		OTF2_GlobalDefReaderCallbacks_Delete(c);
	return d->rc ? d->rc : ok ? 0 : -EINVAL;
}

/* --- ranks and members --- */

/* Numbers the processes by the list of locations that take part in MPI. Other threads of a process have its rank. */
static int ranks_number(struct otf2_defs *d, const struct otf2_group *world, const char *path, struct trace *t,
	struct zerr *err)
{
	struct tallies process = {0}; /* location group: rank */
	int rc = 0;

	t->ranks = world->n;
	for (uint32_t i = 0; i < world->n && !rc; i++) {
		struct otf2_location *l = FIND(d, world->member[i], location, locations);

		if (!l || l->rank != OTF2_DEFS_NONE)
			rc = zerr_set(err, -EINVAL, "%s: rank %u is at no location, or at that of another rank", path,
				i);
		else
			l->rank = i;
		if (!rc && tallies_add(&process, l->process, 0, i, 1))
			rc = zerr_set(err, -ENOMEM, "not enough memory");
	}
	tallies_sort(&process);
	for (size_t i = 0; i < d->locations && !rc; i++) {
		struct otf2_location *l = &d->location[i];
		const struct tally *p = list_find(l->process, process.at, process.n, sizeof(*process.at));

		if (l->rank == OTF2_DEFS_NONE && p && p->sum[1] == 1)
			l->rank = (uint32_t)p->sum[0];
	}
	tallies_free(&process);
	return rc;
}

static int members_add(const struct otf2_defs *d, struct trace_comm *c, uint64_t group, uint32_t ranks)
{
	const struct otf2_group *g = FIND(d, group, group, groups);
	uint32_t *more, n = g ? g->n : 0;

	if (!g || g->type == OTF2_GROUP_TYPE_COMM_SELF || n > ranks || c->n + n < n)
		return -EINVAL;
	more = realloc(c->member, ((size_t)c->n + n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->member = more;
	for (uint32_t i = 0; i < n; i++) {
		/* the list of all has locations, a group has places in that list */
		uint64_t rank = g->type == OTF2_GROUP_TYPE_COMM_LOCATIONS ? i : g->member[i];

		if (rank >= ranks)
			return -EINVAL;
		c->member[c->n++] = (uint32_t)rank;
	}
	return 0;
}

/* Makes the communicators that have members. Traces define others, too: of OpenMP and of what was never used. */
static int comms_make(struct otf2_defs *d, const char *path, struct trace *t, struct zerr *err)
{
	int rc = 0;

	t->comm = calloc(d->comms + 1, sizeof(*t->comm));
	if (!t->comm)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (size_t i = 0; i < d->comms && !rc; i++) {
		struct otf2_comm *c = &d->comm[i];
		const struct otf2_group *g = FIND(d, c->group[0], group, groups);
		struct trace_comm *to = &t->comm[t->comms];

		c->comm = OTF2_DEFS_NONE;
		c->self = g && g->type == OTF2_GROUP_TYPE_COMM_SELF;
		c->global = g && g->global;
		if (!g || c->self)
			continue;
		c->comm = t->comms++;
		rc = members_add(d, to, c->group[0], t->ranks);
		to->first = c->inter ? to->n : 0;
		if (!rc && c->inter)
			rc = members_add(d, to, c->group[1], t->ranks);
		if (!rc && c->inter && (!to->first || to->first == to->n))
			rc = -EINVAL;
		if (rc == -EINVAL)
			zerr_set(err, rc, "%s: communicator %llu has members that are no ranks", path,
				(unsigned long long)c->ref);
		else if (rc)
			zerr_set(err, rc, "not enough memory");
	}
	return rc;
}

static void functions_know(struct otf2_defs *d)
{
	for (size_t i = 0; i < d->functions; i++) {
		struct otf2_function *f = &d->function[i];
		const struct otf2_string *name = FIND(d, f->name, string, strings);

		if (!name || f->is_phase)
			continue;
		f->span = trace_span_of(name->text);
		f->is_init = !strcasecmp(name->text, "MPI_Init") || !strcasecmp(name->text, "MPI_Init_thread");
		f->is_end = !strcasecmp(name->text, "MPI_Finalize");
	}
}

int otf2_defs_read(struct otf2_defs *d, OTF2_Reader *reader, const char *path, struct trace *t, struct zerr *err)
{
	const struct otf2_group *world = NULL;
	int rc;

	*d = (struct otf2_defs){0};
	rc = definitions_read(d, reader);
	if (rc)
		return rc == -ENOMEM ? zerr_set(err, rc, "not enough memory")
				     : zerr_set(err, rc, "%s: its definitions cannot be read", path);
	SORT(d, string, strings);
	SORT(d, location, locations);
	SORT(d, group, groups);
	SORT(d, comm, comms);
	SORT(d, window, windows);
	SORT(d, function, functions);
	functions_know(d);
	for (size_t i = 0; i < d->groups; i++)
		if (d->group[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
			world = &d->group[i];
	if (!world || !world->n || world->n > TRACE_RANKS_MAX)
		return zerr_set(err, -EINVAL, "%s: no ranks of MPI in this trace", path);
	rc = ranks_number(d, world, path, t, err);
	return rc ? rc : comms_make(d, path, t, err);
}

void otf2_defs_free(struct otf2_defs *d)
{
	for (size_t i = 0; i < d->strings; i++)
		free(d->string[i].text);
	for (size_t i = 0; i < d->groups; i++)
		free(d->group[i].member);
	free(d->string);
	free(d->location);
	free(d->group);
	free(d->comm);
	free(d->window);
	free(d->function);
	*d = (struct otf2_defs){0};
}

/* --- questions --- */

uint64_t otf2_defs_location(const struct otf2_defs *d, size_t i, uint32_t *rank)
{
	*rank = d->location[i].rank;
	return d->location[i].ref;
}

uint32_t otf2_defs_rank(const struct otf2_defs *d, uint64_t location)
{
	const struct otf2_location *l = FIND(d, location, location, locations);

	return l ? l->rank : OTF2_DEFS_NONE;
}

const struct otf2_comm *otf2_defs_comm(const struct otf2_defs *d, uint64_t ref)
{
	return FIND(d, ref, comm, comms);
}

const struct otf2_comm *otf2_defs_window(const struct otf2_defs *d, uint64_t ref)
{
	const struct otf2_window *w = FIND(d, ref, window, windows);

	return w ? otf2_defs_comm(d, w->comm) : NULL;
}

enum zgraph_span otf2_defs_region(const struct otf2_defs *d, uint64_t ref, bool *is_mpi, bool *is_init, bool *is_end)
{
	const struct otf2_function *f = FIND(d, ref, function, functions);

	*is_mpi = f && !f->is_phase;
	*is_init = f && f->is_init;
	*is_end = f && f->is_end;
	return f ? f->span : ZGRAPH_SPANS;
}

const char *otf2_defs_phase(const struct otf2_defs *d, uint64_t ref)
{
	const struct otf2_function *f = FIND(d, ref, function, functions);
	const struct otf2_string *name = f && f->is_phase ? FIND(d, f->name, string, strings) : NULL;

	return name ? name->text : NULL;
}

#endif
