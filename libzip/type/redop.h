/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction operations (MPI_Op): what can be said of them, and those that the application may free while an unfinished
 * collective of ours uses them. MPI_Op_free of such an operation is put off until the last collective has released it
 * (MPI-4.0 section 6.9.7). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_REDOP_H
#define ZIP_LIBZIP_REDOP_H

#include <mpi.h>
#include <stdbool.h>

bool zredop_is_predefined(MPI_Op);
bool zredop_commutes(MPI_Op);
/* Are the bits of a op b and of b op a the same? Not so for the larger of 1 and NaN or of 0 and -0, which is either,
 * and not for a product of complex numbers, which may be rounded in another place. A sum of two NaNs is either of them;
 * that is accepted. */
bool zredop_exchanges(MPI_Op, MPI_Datatype);

/* MPI_SUCCESS or MPI_ERR_NO_MEM. A predefined operation needs nothing. Each hold needs a release. */
int zredop_hold(MPI_Op);
void zredop_release(MPI_Op);

#endif
