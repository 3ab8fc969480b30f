/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that unfinished collectives of ours use: MPI_Op_free of one is put off until the last
 * has finished (MPI-4.0 section 6.9.7). Under the shim's lock. */
#ifndef ZIP_LIBZIP_COLL_OP_H
#define ZIP_LIBZIP_COLL_OP_H

#include <mpi.h>

int zcoll_op_hold(MPI_Op); /* MPI_SUCCESS or MPI_ERR_NO_MEM; predefined ones need nothing */
void zcoll_op_release(MPI_Op);

#endif
