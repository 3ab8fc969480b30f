/* SPDX-License-Identifier: BSD-3-Clause */
/* The small blocks of an alltoall, which travel together. All functions return MPI_SUCCESS or an error class. Under the
 * shim's lock. */
#ifndef ZIP_LIBZIP_AGGREGATE_H
#define ZIP_LIBZIP_AGGREGATE_H

#include "libzip/coll/side.h"

/* The first step: copies the blocks that are to travel together, as later steps may overwrite them. */
int zaggregate_pack(struct zsched *, struct zalltoall *);
/* Exchanges these blocks, in rounds of its own. Adds the same native steps in all members of a part. */
int zaggregate_exchange(struct zsched *, struct zalltoall *);

#endif
