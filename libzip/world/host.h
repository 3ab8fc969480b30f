/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This host, and the ranks of my part on it. Native MPI is not asked: MPICH 5.0.2 with UCX, as Debian has it, tells
 * every rank that it shares memory with no other one.
 */
#ifndef ZIP_LIBZIP_HOST_H
#define ZIP_LIBZIP_HOST_H

#include <stdint.h>

/* A number of this host, from its boot and its name. Two hosts have the same number by chance only. Any thread. */
uint64_t zhost_number(void);
/* In MPI_Init, with zworld filled: how many ranks of my part are on this host, this one included. Collective over
 * zworld.base, blocking. 1: there was no memory to ask. */
int zhost_ranks(void);

#endif
