/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of the standard ABI. All makers call theirs libmpi_abi.so (MPI-5.0 chapter 20). */
#include "libzip/abi/library.h"

#include <string.h>

static const char name_begins[] = "libmpi_abi.so.";

const char zlibrary_needed[] = "libzipper-abi needs the MPI standard ABI (libmpi_abi.so)";
const char *const zlibrary_objects;

bool zlibrary_is_ours(const char *name, bool open_mpi)
{
	(void)open_mpi;
	return strncmp(name, name_begins, strlen(name_begins)) == 0;
}
