/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's versions and their bugs. See mpich_version.h. */
#include "libzip/abi/mpich_version.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Versions between the last one that was seen with a bug and the first one that was seen without it count as having it.
 * Seen were 3.4.1, 4.0.2, 4.2.1 and 5.0.2. */
static const struct zmpich_version_span bugs[ZVERSION_BUGS] = {
	/* MPI_Testall fails where it completes a persistent collective or a partitioned operation. */
	[ZVERSION_TESTALL] = {ZVERSION(4, 0, 0), INT_MAX},
	/* MPI_Ialltoallw in place takes all blocks for blocks of the same datatype. */
	[ZVERSION_IALLTOALLW] = {0, ZVERSION(4, 2, 0)},
	/* MPI_Comm_create_group crashes where the communicator was never asked for its group. */
	[ZVERSION_CREATE_GROUP] = {0, ZVERSION(5, 0, 1)},
	/* MPI_Cart_sub that keeps no dimension makes a communicator at rank 0 alone, not one for each rank. */
	[ZVERSION_CART_SUB] = {0, ZVERSION(5, 0, 1)},
	/* MPI_Comm_idup blocks at its end, within the progress of another call, where the communicator comes from
	 * MPI_COMM_WORLD. */
	[ZVERSION_COMM_IDUP] = {ZVERSION(4, 2, 2), INT_MAX},
};

bool zmpich_version_has_bug(int version, enum zversion_bug bug)
{
	return zmpich_version_spans(&bugs[bug], version);
}

/* The words in front of MPICH's version: its own, and those of libraries that name the MPICH they are made from. Intel
 * MPI and MVAPICH2 do not name it. */
static const char *const names[] = {"ANL base ", "MPICH Version:"};

int zmpich_version_read(const char *library, int standard, int substandard)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *at = strstr(library, names[i]);
		int major = 0, minor = 0, patch = 0;

		/* "4.0.2", "3.4a2": letters end the numbers */
		if (at && sscanf(at + strlen(names[i]), " %d.%d.%d", &major, &minor, &patch) >= 2)
			return ZVERSION(major, minor, patch);
	}
	if (standard >= 5)
		return ZVERSION(5, 0, 0);
	if (standard == 4)
		return substandard >= 1 ? ZVERSION(4, 2, 0) : ZVERSION(4, 0, 0);
	return ZVERSION(3, 2, 0);
}
