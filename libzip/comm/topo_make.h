/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions share that make communicators with a topology. Under the shim's lock. */
#ifndef ZIP_LIBZIP_TOPO_MAKE_H
#define ZIP_LIBZIP_TOPO_MAKE_H

#include <mpi.h>

#include "libzip/comm/commnew.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo.h"

/* On a local parent the native function, which blocks: once all have come. */
#define ZTOPO_RETURN_NATIVE(comm, call)                                                                                \
	do {                                                                                                           \
		int rc_ = zcommnew_meet(comm);                                                                         \
		if (rc_ == MPI_SUCCESS) {                                                                              \
			zshim_block_begin();                                                                           \
			rc_ = (call);                                                                                  \
			zshim_block_end();                                                                             \
		}                                                                                                      \
		return rc_;                                                                                            \
	} while (0)

/* A split of c; topo, whose reference is taken, is the topology of the new communicator in which this rank will be.
 * NULL with a color: there was no memory for it. MPI_SUCCESS or an error code that has been raised. */
int ztopo_split(struct zcomm *c, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm);

#endif
