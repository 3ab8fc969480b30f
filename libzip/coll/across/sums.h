/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions between the groups of an intercommunicator (groupsum.h), several at a time and in both directions. Under
 * the shim's lock. */
#ifndef ZIP_LIBZIP_SUMS_H
#define ZIP_LIBZIP_SUMS_H

#include "libzip/coll/across/giving.h"
#include "libzip/coll/across/taking.h"

/* Adds all rounds of these reductions; either side may be empty. Ends the last round. MPI_SUCCESS or an error class. */
int zsums_run(struct zsched *, struct zgiving **, int ngiving, struct ztaking **, int ntaking);

#endif
