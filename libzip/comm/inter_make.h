/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an intercommunicator whose groups are known. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_MAKE_H
#define ZIP_LIBZIP_INTER_MAKE_H

#include <mpi.h>

#include "libzip/comm/comm_outcome.h"
#include "libzip/comm/inter.h"
#include "libzip/world/group.h"

/* Makes the intercommunicator, with the error handler of parent. All members of both groups call this. A failure at
 * this member goes to the outcome. Returns the new communicator, for zcomm_make_end, which must follow when the members
 * have agreed; or MPI_COMM_NULL. */
MPI_Comm zinter_make(const struct zinter *, MPI_Comm parent, const char *name, struct zcomm_outcome *);
/* Makes the agreement among both groups, which have no communicator in common, with that number, and ends with
 * zcomm_make_end. */
int zinter_make_end(const struct zinter *, MPI_Comm made, MPI_Comm parent, const char *name, struct zcomm_outcome *,
	MPI_Comm *newcomm);
/* The members of both groups in the order that is the same in both. The array is to be freed; NULL: no memory. */
void zinter_make_group(const struct zinter *, struct zgroup *both);

#endif
