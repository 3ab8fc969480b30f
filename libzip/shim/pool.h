/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for requests and messages. Blocks of a few sizes stay on free lists, so the data path calls malloc only while
 * a program needs more than ever before. Under the shim's lock. No MPI in here.
 */
#ifndef ZIP_LIBZIP_POOL_H
#define ZIP_LIBZIP_POOL_H

#include <stddef.h>

/* A block of at least `bytes` bytes, aligned for any type, not zeroed. NULL: no memory. */
void *zpool_get(size_t bytes);
/* Gives a block back; NULL is allowed. */
void zpool_put(void *);
/* Gives the blocks on the free lists back to the system. */
void zpool_fini(void);

#endif
