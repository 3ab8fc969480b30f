/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries of MPICH's ABI: MPICH, Intel MPI, Cray MPICH, MVAPICH2, ParaStation MPI. By the rules of the MPICH ABI
 * Compatibility Initiative such a library has version 12 in its soname, whatever its name.
 */
#include "libzip/abi/library.h"

#include <string.h>

#define VERSION ".so.12"

const char zlibrary_needed[] = "libzipper needs MPICH or a library of its ABI (libmpich.so.12, libmpi.so.12)";
const char *const zlibrary_objects;

/* Open MPI 1.7 to 1.10 had version 12, too. */
bool zlibrary_is_ours(const char *name, bool open_mpi)
{
	const char *v = strstr(name, VERSION);

	return !open_mpi && v && (v[strlen(VERSION)] == '\0' || v[strlen(VERSION)] == '.');
}
