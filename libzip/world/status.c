/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses in the native layout, which is part of the MPICH ABI. MPI_Get_count and others read them natively. See
 * status.h. */
#include "libzip/world/status.h"

void zstatus_set(MPI_Status *st, int source, int tag, int error, MPI_Count bytes, bool cancelled)
{
	/* The 63-bit count: the low 32 bits, then the high 31 above the cancelled bit. */
	st->count_lo = (int)(uint32_t)bytes;
	st->count_hi_and_cancelled = (int)((uint32_t)((uint64_t)bytes >> 32) << 1 | (cancelled ? 1u : 0u));
	st->MPI_SOURCE = source;
	st->MPI_TAG = tag;
	st->MPI_ERROR = error;
}

/* MPI-4.0 section 3.7.3. */
void zstatus_empty(MPI_Status *st)
{
	zstatus_set(st, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, false);
}
