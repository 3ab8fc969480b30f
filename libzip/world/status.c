/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses in the native layout. MPI_Get_count and others read them natively. See status.h. */
#include "libzip/world/status.h"

#include "libzip/abi/abi.h"

void zstatus_set(MPI_Status *st, int source, int tag, int error, MPI_Count bytes, bool cancelled)
{
	zabi_status_count(st, bytes, cancelled);
	st->MPI_SOURCE = source;
	st->MPI_TAG = tag;
	st->MPI_ERROR = error;
}

/* MPI-4.0 section 3.7.3. */
void zstatus_empty(MPI_Status *st)
{
	zstatus_set(st, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, false);
}
