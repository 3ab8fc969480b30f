/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which MPI a library is. This library has the handles and statuses of one family of MPI libraries
 * (libzip/abi/library.h).
 */
#ifndef ZIP_LIBZIP_FLAVOUR_H
#define ZIP_LIBZIP_FLAVOUR_H

#include "libzip/loader/object.h"

enum zflavour {
	ZFLAVOUR_NONE, /* no MPI library; a tool that has MPI_Init is none, either */
	ZFLAVOUR_OURS, /* of the family that this library is made for */
	ZFLAVOUR_OTHER,
};
enum zflavour zflavour_of(const struct zobject *);

/* Ends this process, in which the program wants to use another MPI, with one line that names it, or says
 * that there is no MPI. */
void zflavour_refuse(void) __attribute__((noreturn));
/* zflavour_refuse if `name` begins the use of MPI: the function to call instead of that of another MPI. Else NULL. */
void *zflavour_instead(const char *name);

#endif
