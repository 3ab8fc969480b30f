/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlsym, dlvsym, dlopen and dlmopen of this library, which stand in front of libc's.
 *
 * What RTLD_NEXT means, and where a library is searched, depends on the caller, whom libc knows by the return address.
 * So a few instructions for each machine (interpose.c) ask the functions below and then jump on to libc with the
 * arguments and the return address as they were. On other machines than these nothing is interposed, and only a native
 * library that is loaded at the start, or when MPI_Init is called, is covered (cover.h).
 */
#ifndef ZIP_LIBZIP_INTERPOSE_H
#define ZIP_LIBZIP_INTERPOSE_H

/* Where to go on: jump there, or, if it is NULL, return the answer. In two registers on all machines. */
struct zinterpose_way {
	void *answer, *next;
};

/* caller: the return address of the call. */
struct zinterpose_way zinterpose_dlsym(void *handle, const char *name, const char *unused, const void *caller);
struct zinterpose_way zinterpose_dlvsym(void *handle, const char *name, const char *version, const void *caller);
struct zinterpose_way zinterpose_dlopen(const char *file, int mode, const char *unused, const void *caller);
struct zinterpose_way zinterpose_dlmopen(long space, const char *file, int mode, const void *caller);

#endif
