/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows names of MPI functions. See names.h. */
#include "libzip/loader/names.h"

#include <string.h>

bool znames_is_strange(const char *name)
{
	size_t low = 0, high = znames_n;

	name += name[0] == 'P';
	if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "MPIX_", 5) != 0)
		return false;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		const int order = strcmp(name, znames_known[middle]);
		if (order == 0)
			return false;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return true;
}
