/* SPDX-License-Identifier: BSD-3-Clause */
/* The differences between versions of MPICH, as tables. See libzip/abi/version.h. */
#include "libzip/abi/version.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A row holds from version `since` until version `until`. */
struct span {
	int since, until;
};

static bool spans(const struct span *s, int version)
{
	return version >= s->since && version <= s->until;
}

/* The value of a constant; a constant may have several rows. */
static const struct {
	enum zversion_constant constant;
	int value;
	struct span versions;
} constants[] = {
	{ZVERSION_COMM_TYPE_NEIGHBORHOOD, 2, {0, ZVERSION(3, 99, 99)}},
	{ZVERSION_COMM_TYPE_NEIGHBORHOOD, 4, {ZVERSION(4, 0, 0), ZVERSION(4, 1, 99)}},
	{ZVERSION_COMM_TYPE_NEIGHBORHOOD, 5, {ZVERSION(4, 2, 0), INT_MAX}},
	{ZVERSION_COMM_TYPE_HW_GUIDED, 2, {ZVERSION(4, 0, 0), INT_MAX}},
	{ZVERSION_COMM_TYPE_HW_UNGUIDED, 3, {ZVERSION(4, 0, 0), INT_MAX}},
	{ZVERSION_COMM_TYPE_RESOURCE_GUIDED, 4, {ZVERSION(4, 2, 0), INT_MAX}},
};

/* Versions between the last one that was seen with a bug and the first one that was seen without it count as having it.
 * Seen were 3.4.1, 4.0.2, 4.2.1 and 5.0.2. */
static const struct span bugs[ZVERSION_BUGS] = {
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

bool zversion_is_in(int version, enum zversion_constant constant, int value)
{
	for (unsigned i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (constants[i].constant == constant && spans(&constants[i].versions, version))
			return constants[i].value == value;
	return false;
}

bool zversion_has_bug(int version, enum zversion_bug bug)
{
	return spans(&bugs[bug], version);
}

/* The words in front of MPICH's version: its own, and those of libraries that name the MPICH they are made from. Intel
 * MPI and MVAPICH2 do not name it. */
static const char *const names[] = {"ANL base ", "MPICH Version:"};

int zversion_read(const char *library, int standard, int substandard)
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
