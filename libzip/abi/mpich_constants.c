/* SPDX-License-Identifier: BSD-3-Clause */
/* The differences between versions of MPICH for the family of its ABI. See libzip/abi/version.h. */
#include <limits.h>

#include "libzip/abi/mpich_version.h"

/* The value of a constant; a constant may have several rows. */
static const struct {
	enum zversion_constant constant;
	int value;
	struct zmpich_version_span versions;
} constants[] = {
	{ZVERSION_COMM_TYPE_NEIGHBORHOOD, 2, {0, ZVERSION(3, 99, 99)}},
	{ZVERSION_COMM_TYPE_NEIGHBORHOOD, 4, {ZVERSION(4, 0, 0), ZVERSION(4, 1, 99)}},
	{ZVERSION_COMM_TYPE_NEIGHBORHOOD, 5, {ZVERSION(4, 2, 0), INT_MAX}},
	{ZVERSION_COMM_TYPE_HW_GUIDED, 2, {ZVERSION(4, 0, 0), INT_MAX}},
	{ZVERSION_COMM_TYPE_HW_UNGUIDED, 3, {ZVERSION(4, 0, 0), INT_MAX}},
	{ZVERSION_COMM_TYPE_RESOURCE_GUIDED, 4, {ZVERSION(4, 2, 0), INT_MAX}},
};

bool zversion_is_in(int version, enum zversion_constant constant, int value)
{
	for (unsigned i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (constants[i].constant == constant && zmpich_version_spans(&constants[i].versions, version))
			return constants[i].value == value;
	return false;
}

int zversion_read(const char *library, int standard, int substandard)
{
	return zmpich_version_read(library, standard, substandard);
}

bool zversion_has_bug(int version, enum zversion_bug bug)
{
	return zmpich_version_has_bug(version, bug);
}
