/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long vectors of MPI_Reduce_scatter, where the ranks of each part are consecutive. Several leaders work, each of them
 * on the elements of the members that it is in charge of. The vector goes in segments: while one crosses the bridge,
 * the next one is reduced inside. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_REDUCE_SCATTER_STRIPS_H
#define ZIP_LIBZIP_REDUCE_SCATTER_STRIPS_H

#include "common/config/tuning.h"
#include "libzip/coll/base/slots.h"

/* Is a call done in this way? The same answer in all ranks. */
bool zreduce_scatter_strips_apply(const struct zsched *, const struct zcoll *, const struct ztuning_settings *);
/* Builds the schedule. slots: of the whole vector, by rank, one behind the other. Ends the last round. MPI_SUCCESS or
 * an error class. */
int zreduce_scatter_strips_build(struct zsched *, const struct zcoll *, const struct zslots *,
	const struct ztuning_settings *);

#endif
