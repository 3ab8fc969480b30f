/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the MPI library that is there for its version. See running.h. */
#include "libzip/shim/running.h"

#include <mpi.h>
#include <stdatomic.h>

#include "libzip/shim/shim.h"

int zrunning_version(void)
{
	static atomic_int known;
	int version = atomic_load_explicit(&known, memory_order_acquire);

	if (version == 0) {
		char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
		int standard = 0, substandard = 0, length;

		zn.Get_version(&standard, &substandard);
		zn.Get_library_version(library, &length);
		version = zversion_read(library, standard, substandard);
		atomic_store_explicit(&known, version, memory_order_release);
	}
	return version;
}

bool zrunning_is(enum zversion_constant constant, int value)
{
	return zversion_is_in(zrunning_version(), constant, value);
}

bool zrunning_has_bug(enum zversion_bug bug)
{
	return zversion_has_bug(zrunning_version(), bug);
}
