/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds what the dynamic linker has bound past this library: a library opened with RTLD_DEEPBIND prefers the libraries
 * that it brings along, and so gets native MPI, and libc's dlsym.
 */
#ifndef ZIP_LIBZIP_REBIND_H
#define ZIP_LIBZIP_REBIND_H

/* For a function that is not MPI's: the one that takes the place of this one, or NULL. */
typedef void *zrebind_fn(const char *name, const void *entry);

/* Goes through the relocations of all objects but the native libraries and this one, after zcover_all. Slots that hold
 * a covered function's own address get what covers it. other may be NULL. Any thread; other threads may call through
 * the slots meanwhile. */
void zrebind_all(zrebind_fn *other);

/* Fills the slots of this library that are null because no MPI library was there when it was loaded: those of objects
 * whose names begin with prefix get the native library's, or those of a library that it needs. A copy in the program
 * would have been found then. After zcover_all; any thread. */
void zrebind_objects(const char *prefix);

#endif
