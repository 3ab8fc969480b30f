/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long vectors of MPI_Reduce_scatter, where the ranks of each part are consecutive: by several leaders, each of whom
 * makes what the members get that it is in charge of, and in segments, so that while one crosses the bridge the next
 * one is reduced inside. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_REDUCE_LANES_H
#define ZIP_LIBZIP_COLL_REDUCE_LANES_H

#include "libzip/coll/coll.h"
#include "libzip/coll/inside/coll_slots.h"
#include "common/config/tuning.h"

/* Is it done so? The same answer in all ranks. */
bool zreduce_has_lanes(const struct zsched *, const struct zcoll *, const struct ztuning_settings *);
/* slots: of the whole vector, by rank, one after the other. Ends the last round. */
int zreduce_build_lanes(struct zsched *, const struct zcoll *, const struct zslots *, const struct ztuning_settings *);

#endif
