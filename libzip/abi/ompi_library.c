/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of Open MPI: version 4, 5 and 6 have version 40 in their soname. */
#include "libzip/abi/library.h"

#include <string.h>

#define VERSION ".so.40"

const char zlibrary_needed[] = "libzipper-ompi needs Open MPI 4, 5 or 6 (libmpi.so.40)";
const char *const zlibrary_objects = "ompi_";

bool zlibrary_is_ours(const char *name, bool open_mpi)
{
	const char *v = strstr(name, VERSION);

	(void)open_mpi; /* version 6 has its predefined objects in another library */
	return v && (v[strlen(VERSION)] == '\0' || v[strlen(VERSION)] == '.');
}
