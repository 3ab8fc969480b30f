/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split of intracommunicators. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_SPLIT_H
#define ZIP_LIBZIP_COMM_SPLIT_H

#include <mpi.h>

#include "libzip/comm/comm_outcome.h"
#include "libzip/world/comm.h"

/* Splits an intracommunicator of the table. with_topo: the new communicators get topologies; all members say the same.
 * topo is that of the one that this rank will be in, or NULL with MPI_UNDEFINED or if *outcome has failed; the new
 * communicator takes a reference of its own. The members have agreed on the outcome, to which the caller may have noted
 * a failure before, and which has not been raised. Returns the new communicator, for zcomm_make_end, which must follow
 * in any case. */
MPI_Comm zcomm_split(struct zcomm *, int color, int key, bool with_topo, struct ztopo *topo, const char *name,
	struct zcomm_outcome *);

#endif
