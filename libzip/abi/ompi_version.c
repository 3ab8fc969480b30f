/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI has none of the constants and bugs that libzip looks for. See libzip/abi/version.h. */
#include "libzip/abi/version.h"

/* MPICH 3.2 had MPI-3.1, and MPICH 4.0 MPI-4.0. */
int zversion_read(const char *library, int standard, int substandard)
{
	(void)library;
	(void)substandard;
	return standard >= 4 ? ZVERSION(4, 0, 0) : ZVERSION(3, 2, 0);
}

bool zversion_is_in(int version, enum zversion_constant constant, int value)
{
	(void)version;
	(void)constant;
	(void)value;
	return false;
}

bool zversion_has_bug(int version, enum zversion_bug bug)
{
	(void)version;
	(void)bug;
	return false;
}
