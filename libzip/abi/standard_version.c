/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of the libraries of the standard ABI. See libzip/abi/version.h. */
#include "libzip/abi/version.h"

#include <stdatomic.h>
#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/abi/mpich_version.h"

/* Every version of the ABI has the same constants. */
bool zversion_is_in(int version, enum zversion_constant constant, int value)
{
	(void)version;
	switch (constant) {
	case ZVERSION_COMM_TYPE_HW_UNGUIDED:
		return value == MPI_COMM_TYPE_HW_UNGUIDED;
	case ZVERSION_COMM_TYPE_HW_GUIDED:
		return value == MPI_COMM_TYPE_HW_GUIDED;
	case ZVERSION_COMM_TYPE_RESOURCE_GUIDED:
		return value == MPI_COMM_TYPE_RESOURCE_GUIDED;
	default:
		return false;
	}
}

atomic_bool zabi_is_mpich;

/* Open MPI counts as in ompi_version.c. Libraries that are made from MPICH need not say so. */
int zversion_read(const char *library, int standard, int substandard)
{
	zabi_is_mpich = strncmp(library, "Open MPI", strlen("Open MPI")) != 0;
	return zabi_is_mpich ? zmpich_version_read(library, standard, substandard) : ZVERSION(4, 0, 0);
}

bool zversion_has_bug(int version, enum zversion_bug bug)
{
	return zabi_is_mpich && zmpich_version_has_bug(version, bug);
}
