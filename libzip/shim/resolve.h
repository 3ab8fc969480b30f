/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the native MPI library. Its entries are looked up with the first MPI call: LD_PRELOAD also reaches
 * shells and wrapper scripts that never make one, and programs that load MPI later (libzip/loader/cover.h).
 */
#ifndef ZIP_LIBZIP_RESOLVE_H
#define ZIP_LIBZIP_RESOLVE_H

/* Names of the entry points in the order of struct znative (generated). */
extern const char *const znative_names[];
/* The versions of MPICH that have the entry: "4.2+" since 4.2, "-4.0" until 4.0, NULL all of them. */
extern const char *const znative_versions[];
extern const unsigned znative_count;

/* Fills zn. The stub of entry number index calls it. Returns only if that entry was found, or has a small form
 * (small.h). Else it ends the process,
 * with a line on stderr that names the entry: there is no MPI that could report the error. */
void zresolve_entry(unsigned index);

/* MPI_UNWEIGHTED, an object of the native library. After MPI_Init. */
int *zresolve_unweighted(void);

#endif
