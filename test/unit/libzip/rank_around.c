/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/unit/libzip/rank_around.h"

#include <assert.h>

#include "common/session/session.h"
#include "libzip/shim/shim.h"

/* --- native MPI --- */

static int type_size(MPI_Datatype t, MPI_Count *size)
{
	assert(t == MPI_BYTE);
	*size = 1;
	return MPI_SUCCESS;
}

static int type_extent(MPI_Datatype t, MPI_Count *lb, MPI_Count *extent)
{
	*lb = 0;
	return type_size(t, extent);
}

static int type_envelope(MPI_Datatype t, MPI_Count *ints, MPI_Count *aints, MPI_Count *counts, MPI_Count *types,
	int *combiner)
{
	(void)t;
	*ints = *aints = *counts = *types = 0;
	*combiner = MPI_COMBINER_NAMED;
	return MPI_SUCCESS;
}

static int no_probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	(void)source;
	(void)tag;
	(void)comm;
	(void)status;
	*flag = 0;
	return MPI_SUCCESS;
}

void rank_around_fill(void)
{
	zn.Type_size_c = type_size;
	zn.Type_get_extent_c = zn.Type_get_true_extent_c = type_extent;
	zn.Type_get_envelope_c = type_envelope;
	zn.Iprobe = no_probe;
}

/* --- sessions --- */

int __wrap_zsession_poll(struct zsession *, struct zctl_msg *, struct zerr *);
int __wrap_zsession_poll(struct zsession *s, struct zctl_msg *msg, struct zerr *err)
{
	(void)s;
	(void)msg;
	(void)err;
	return 0;
}

int __wrap_zsession_watch(struct zsession *, int64_t, struct zerr *);
int __wrap_zsession_watch(struct zsession *s, int64_t limit_ms, struct zerr *err)
{
	(void)s;
	(void)limit_ms;
	(void)err;
	return 0;
}
