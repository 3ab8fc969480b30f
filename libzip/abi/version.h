/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Versions of a family's libraries: the values of constants that depend on them, and the bugs that need a way around.
 * One libzipper runs with many versions, so the header that it was built with does not tell. shim/running.h asks the
 * library that is there.
 *
 * Versions are counted as MPICH's are. Libraries that descend from MPICH count as the version that they are made from.
 * A library of another family counts as the oldest MPICH with its version of the MPI standard. Any thread.
 */
#ifndef ZIP_LIBZIP_VERSION_H
#define ZIP_LIBZIP_VERSION_H

#include <stdbool.h>

/* A version as a number: two versions compare as their numbers do. */
#define ZVERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

/* The version that a text of MPI_Get_library_version names. If it names none, the oldest MPICH with that version of the
 * MPI standard. */
int zversion_read(const char *library, int standard, int substandard);

/* Constants whose value depends on the version, or that some versions lack. */
enum zversion_constant {
	ZVERSION_COMM_TYPE_HW_GUIDED,
	ZVERSION_COMM_TYPE_HW_UNGUIDED,
	ZVERSION_COMM_TYPE_RESOURCE_GUIDED,
	ZVERSION_COMM_TYPE_NEIGHBORHOOD,
	ZVERSION_CONSTANTS
};
/* Is `value` that constant in this version? False: it has another value there, or none. */
bool zversion_is_in(int version, enum zversion_constant, int value);

/* Bugs of some versions that the library works around only there. A file of the family (mpich_version.c) says what each
 * one is, and which versions have it. A way around that costs nothing and is right with every version needs no bug
 * here. */
enum zversion_bug {
	ZVERSION_TESTALL,
	ZVERSION_IALLTOALLW,
	ZVERSION_CREATE_GROUP,
	ZVERSION_CART_SUB,
	ZVERSION_COMM_IDUP,
	ZVERSION_BUGS
};
bool zversion_has_bug(int version, enum zversion_bug);

#endif
