/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of all MPI functions that this library knows, which are those of functions.tab. */
#ifndef ZIP_LIBZIP_NAMES_H
#define ZIP_LIBZIP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "libzip/loader/object.h"

extern const char *const znames_known[]; /* MPI_X, MPIX_X, MPII_X; sorted as by strcmp (generated) */
extern const size_t znames_n;

/* Could this be a function of MPI: MPI..., PMPI...? Any name, NULL too. A few instructions. */
ZOBJECT_EARLY static inline bool znames_like_mpi(const char *name)
{
	if (name && name[0] == 'P')
		name++;
	return name && name[0] == 'M' && name[1] == 'P' && name[2] == 'I';
}

/* Is it [P]MPI_X or [P]MPIX_X, and not known? */
bool znames_is_strange(const char *name);

#endif
