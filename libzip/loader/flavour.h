/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which MPI a library is. Handles and statuses of this library are those of MPICH's ABI, which these share: MPICH,
 * Intel MPI, Cray MPICH, MVAPICH2, ParaStation MPI. By the rules of the MPICH ABI Compatibility Initiative such a
 * library has version 12 in its soname, whatever its name.
 */
#ifndef ZIP_LIBZIP_FLAVOUR_H
#define ZIP_LIBZIP_FLAVOUR_H

#include "libzip/loader/object.h"

enum zflavour {
	ZFLAVOUR_NONE,	/* no MPI library; a tool that has MPI_Init is none, either */
	ZFLAVOUR_MPICH, /* its ABI */
	ZFLAVOUR_OTHER,
};
enum zflavour zflavour_of(const struct zobject *);

/* Ends this process, in which the program wants to use another MPI than MPICH, with one line that names it, or says
 * that there is no MPI. */
void zflavour_refuse(void) __attribute__((noreturn));
/* zflavour_refuse if `name` begins the use of MPI: the function to call instead of that of another MPI. Else NULL. */
void *zflavour_instead(const char *name);

#endif
