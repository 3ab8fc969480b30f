/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of MPICH, for the families whose libraries may be MPICH: its own ABI and the standard one. Any thread. */
#ifndef ZIP_LIBZIP_MPICH_VERSION_H
#define ZIP_LIBZIP_MPICH_VERSION_H

#include <stdbool.h>

#include "libzip/abi/version.h"

/* From version `since` until version `until`, both included. */
struct zmpich_version_span {
	int since, until;
};
static inline bool zmpich_version_spans(const struct zmpich_version_span *s, int version)
{
	return version >= s->since && version <= s->until;
}

/* As zversion_read and zversion_has_bug. */
int zmpich_version_read(const char *library, int standard, int substandard);
bool zmpich_version_has_bug(int version, enum zversion_bug);

#endif
