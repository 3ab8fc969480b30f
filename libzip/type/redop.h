/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction operations (MPI_Op): their properties, and holding them. The application may free an operation that an
 * unfinished collective of ours still uses. MPI_Op_free is then put off until the last collective has released the
 * operation (MPI-4.0 section 6.9.7). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_REDOP_H
#define ZIP_LIBZIP_REDOP_H

#include <mpi.h>
#include <stdbool.h>

bool zredop_is_predefined(MPI_Op);
/* Is it an operation, and one for this datatype? MPI_SUCCESS or the error class of native MPI. The datatype of an
 * operation of the application is not looked at. */
int zredop_check(MPI_Op, MPI_Datatype);
bool zredop_commutes(MPI_Op);
/* Are the bits of a op b and of b op a the same? Not so for the larger of 1 and NaN or of 0 and -0, which is either,
 * and not for a product of complex numbers, which may be rounded in another place. A sum of two NaNs is either of them;
 * that is accepted. */
bool zredop_exchanges(MPI_Op, MPI_Datatype);

/* MPI_SUCCESS or MPI_ERR_NO_MEM. A predefined operation needs nothing. Each hold needs a release. */
int zredop_hold(MPI_Op);
void zredop_release(MPI_Op);

#endif
