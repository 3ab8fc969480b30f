/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of a family's libraries. Any thread. */
#ifndef ZIP_LIBZIP_LIBRARY_H
#define ZIP_LIBZIP_LIBRARY_H

#include <stdbool.h>

/* Does an MPI library of that name (its soname, else that of its file) belong to the family? open_mpi: it has the
 * predefined objects of Open MPI. */
bool zlibrary_is_ours(const char *name, bool open_mpi);

/* The end of a line that refuses another library: "libzipper needs ...". */
extern const char zlibrary_needed[];

/* The prefix of the names of the objects whose addresses are the predefined handles; NULL: these are numbers. */
extern const char *const zlibrary_objects;

#endif
