/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Covers the native MPI library, so that this library is found in its place by any search: in the symbol table of the
 * loaded native library, the entries of all functions that this library exports, too, lead here. What looks a function
 * up by the library's handle (dlsym, Python's ctypes, Julia, JNA), or binds to it directly (RTLD_DEEPBIND), gets the
 * wrapper. Programs and libraries that are bound by the global scope have the wrapper anyway, because this library
 * stands in front there.
 *
 * Of another MPI the functions that begin its use are covered, by a refusal (flavour.h), in a job of several parts.
 *
 * A covered library stays loaded until the process ends. Any thread.
 */
#ifndef ZIP_LIBZIP_COVER_H
#define ZIP_LIBZIP_COVER_H

#include <stdbool.h>

#include "common/base/err.h"
#include "libzip/loader/object.h"

/* Covers all MPI libraries that are loaded now and were not before. Returns how many. */
int zcover_all(void);
/* 0; or a negative errno and a text: a library that is loaded could not be covered. */
int zcover_check(struct zerr *);
/* MPICH's own function or object, whether it is covered or not. NULL: there is none, or no such library.
 */
void *zcover_native(const char *name);
/* The native library that zcover_native asks first; NULL: none is loaded. */
const struct zobject *zcover_library(void);
/* Is this a native library, or another MPI? */
bool zcover_is_library(const struct zobject *);
/* The function that takes the place of one of a native library: `entry` is the own address of function `name` there.
 * NULL: `entry` is no such function, or stays as it is. */
void *zcover_instead(const char *name, const void *entry);

#endif
