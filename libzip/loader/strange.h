/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the native MPI library that this library does not know, because the native library is newer. The program
 * would see its own cluster alone through them. So in a job of several clusters they are refused: by MPI_Init if the
 * program or one of its libraries imports one, at the call if it comes otherwise.
 */
#ifndef ZIP_LIBZIP_STRANGE_H
#define ZIP_LIBZIP_STRANGE_H

#include <stdbool.h>

#include "common/base/err.h"

/* Did the environment name a job of several parts when this process began? Else such functions are as good as any. */
bool zstrange_in_world(void);
/* A function that stands in for the strange one. A call ends the process, with one line that names the caller and the
 * function. name is kept. Not from several threads at a time. */
void *zstrange_stub(const char *name);
/* -ENOSYS and a text: a loaded object imports a function that has a stub, and the object is no part of the MPI library.
 * The Fortran library imports all functions, whatever the program calls. */
int zstrange_imports(struct zerr *);
/* "MPIX_New, which ...": the end of the sentence. */
extern const char zstrange_why[];

#endif
