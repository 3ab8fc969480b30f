/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators with a topology. Under the shim's lock. */
#ifndef ZIP_LIBZIP_TOPO_MAKE_H
#define ZIP_LIBZIP_TOPO_MAKE_H

#include <mpi.h>

#include "libzip/comm/comm_meet.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo.h"

/* On a local parent: returns what the native function returns, which blocks, and is called when all have come. */
#define ZTOPO_RETURN_NATIVE(comm, call)                                                                                \
	do {                                                                                                           \
		int rc_ = zcomm_meet_local(comm);                                                                      \
		if (rc_ == MPI_SUCCESS) {                                                                              \
			zshim_block_begin();                                                                           \
			rc_ = (call);                                                                                  \
			zshim_block_end();                                                                             \
		}                                                                                                      \
		return rc_;                                                                                            \
	} while (0)

/* Splits c. topo, whose reference this takes over, is the topology of the new communicator that this rank will be in.
 * NULL with a color means that there was no memory for it. All members hear of that. MPI_SUCCESS or an error code that
 * has been raised. */
int ztopo_make(struct zcomm *c, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm);

#endif
