/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts and displacements of the members of my part. */
#include "libzip/coll/base/counts.h"

#include <string.h>

int zcounts_make(struct zsched *s, struct zcounts *k)
{
	size_t n = (size_t)zsched_comm(s)->nlocal;
	k->of = zsched_alloc(s, n * sizeof *k->of);
	k->at = zsched_alloc(s, n * sizeof *k->at);
	if (!k->of || !k->at)
		return MPI_ERR_NO_MEM;
	memset(k->of, 0, n * sizeof *k->of);
	memset(k->at, 0, n * sizeof *k->at);
	return MPI_SUCCESS;
}

MPI_Count zcounts_place(const struct zsched *s, const struct zcounts *k)
{
	MPI_Count total = 0;
	for (int i = 0; i < zsched_comm(s)->nlocal; i++) {
		k->at[i] = (MPI_Aint)total;
		total += k->of[i];
	}
	return total;
}
