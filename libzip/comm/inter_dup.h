/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplication of a spanning intercommunicator. Under the shim's lock. */
#ifndef ZIP_LIBZIP_INTER_DUP_H
#define ZIP_LIBZIP_INTER_DUP_H

#include <mpi.h>

#include "libzip/comm/comm_outcome.h"

struct zinter_dup;
/* Adds the steps besides the duplication of the handle itself. A failure goes to the outcome, which stays where it is
 * until the schedule is complete. waits: see comm_idup.h. MPI_SUCCESS or an error class. */
int zinter_dup_build(struct zsched *, struct zinter_dup **, struct zcomm_outcome *, bool waits);
/* Makes the entry, after all these steps. MPI_SUCCESS or an error class. */
int zinter_dup_make(const struct zinter_dup *, MPI_Comm handle);
/* Gives up everything, with or without an entry. */
void zinter_dup_undo(struct zinter_dup *, MPI_Comm handle);

#endif
