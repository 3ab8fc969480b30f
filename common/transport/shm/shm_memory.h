/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed memory that processes share by its descriptor: without the seals a peer could shrink it under who has mapped
 * it. Inner header of the shm transport. Any thread. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_MEMORY_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_MEMORY_H

#include <stddef.h>

#include "common/base/err.h"

/* Room for control blocks in front of the data: 64 KiB is the largest usual page. */
#define SHM_CTL_BYTES ((size_t)64 << 10)

/* A descriptor (the caller's), or a negative errno with text. */
int shm_memory_create(const char *name, size_t bytes, struct zerr *);
/* 0, or -EPROTO: not such memory, or not of this size. */
int shm_memory_check(int fd, size_t bytes);

#endif
