/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI has two of the constants that libzip looks for, and none of the bugs. See libzip/abi/version.h. */
#include "libzip/abi/version.h"

#include <stdlib.h>
#include <string.h>

static const char prefix[] = "Open MPI v";

/* MPICH 3.2 had MPI-3.1, and MPICH 4.0 MPI-4.0. Open MPI 5 has most of MPI-4.0, and says 3.1. */
int zversion_read(const char *library, int standard, int substandard)
{
	(void)substandard;
	const bool newer = strncmp(library, prefix, strlen(prefix)) == 0 && atoi(library + strlen(prefix)) >= 5;
	return newer || standard >= 4 ? ZVERSION(4, 0, 0) : ZVERSION(3, 2, 0);
}

/* As in the mpi.h of 5.0. That of 4.1, with which libzipper may have been built, lacks them. */
bool zversion_is_in(int version, enum zversion_constant constant, int value)
{
	if (version < ZVERSION(4, 0, 0))
		return false;
	return (constant == ZVERSION_COMM_TYPE_HW_UNGUIDED && value == 12) ||
	       (constant == ZVERSION_COMM_TYPE_HW_GUIDED && value == 13);
}

bool zversion_has_bug(int version, enum zversion_bug bug)
{
	(void)version;
	(void)bug;
	return false;
}
