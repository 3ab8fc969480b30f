/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of datatypes. See type.h. */
#include "libzip/type/type.h"

#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/type/dense.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/world/quiet.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

#define CACHE_SIZE                                                                                                     \
	256u /* entries, one for each value of a hash; MPICH's predefined types have 57 values,                        \
	      * those of the standard ABI one each */

static struct ztype stations[ZSTATIONS_MAX][CACHE_SIZE];
#define cache (stations[zstation_here])

int ztype_check(MPI_Datatype t)
{
	return zabi_type_is_valid(t) ? MPI_SUCCESS : MPI_ERR_TYPE;
}

/* No function of MPI tells. But every communication refuses a type that is not committed, also a message to nobody. */
static bool is_committed(MPI_Datatype t)
{
	static const char nothing[1];

	return zn.Send(nothing, 1, t, MPI_PROC_NULL, 0, zquiet_comm()) == MPI_SUCCESS;
}

static void describe(struct ztype *e, MPI_Datatype t)
{
	MPI_Count lb, ints, aints, counts, types;
	int combiner = MPI_COMBINER_NAMED;

	zsignature_free(&e->signature);
	memset(e, 0, sizeof(*e));
	e->handle = t;
	zn.Type_size_c(t, &e->size);
	zn.Type_get_extent_c(t, &lb, &e->extent);
	zn.Type_get_envelope_c(t, &ints, &aints, &counts, &types, &combiner);
	e->builtin = combiner == MPI_COMBINER_NAMED;
	e->dense = zdense_find(t, &e->start);
	e->wire_size = e->size;
	e->committed = e->builtin || is_committed(t);
	e->valid = e->committed; /* else the next call asks again */
	if (!zworld.external32 || e->size == 0)
		return;
	e->error = zsignature_make(&e->signature, t);
	if (e->error != MPI_SUCCESS) {
		e->valid = false; /* the next call tries again */
		return;
	}
	const struct zsignature *s = &e->signature;
	e->converted = s->nruns != 1 || s->run[0].native != 1;
	if (e->converted) {
		e->wire_size = (MPI_Count)s->wire_bytes;
		e->dense = false;
	}
}

const struct ztype *ztype_find(MPI_Datatype t)
{
	if (t == MPI_DATATYPE_NULL)
		t = MPI_BYTE;
	struct ztype *e = &cache[zabi_hash(t) % CACHE_SIZE];
	if (!e->valid || e->handle != t)
		describe(e, t);
	return e;
}

bool ztype_is_committed(MPI_Datatype t)
{
	const struct ztype *e = &cache[zabi_hash(t) % CACHE_SIZE];

	/* Native MPI is asked before it describes the type, as it raises errors there for a handle that is none. */
	return zabi_type_is_predefined(t) || (e->valid && e->handle == t) || is_committed(t);
}

bool ztype_is_nowhere(const void *buf, MPI_Count count, MPI_Datatype t)
{
	MPI_Count lb = 0, extent;

	return !buf && count > 0 && ztype_find(t)->size > 0 &&
	       zn.Type_get_true_extent_c(t, &lb, &extent) == MPI_SUCCESS && lb == 0;
}

void ztype_forget_here(MPI_Datatype t)
{
	struct ztype *e = &cache[zabi_hash(t) % CACHE_SIZE];

	if (e->handle == t)
		e->valid = false;
}

void ztype_forget(MPI_Datatype t)
{
	zstation_for_each(0)
		ztype_forget_here(t);
}
