/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for requests and messages: blocks of a few sizes kept on free lists, so that the data path calls malloc only
 * while a program still needs more than ever before. Under the shim's lock. No MPI in here.
 */
#ifndef ZIP_LIBZIP_POOL_H
#define ZIP_LIBZIP_POOL_H

#include <stddef.h>

/* A block of at least bytes, aligned for anything, not zeroed. NULL: no memory. */
void *zpool_get(size_t bytes);
/* NULL is allowed. */
void zpool_put(void *);
/* Gives what lies on the free lists back to the system. */
void zpool_fini(void);

#endif
