/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed memory that processes share by its descriptor. Without the seals a peer could shrink the memory under a
 * process that has mapped it. Any thread. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_MEMORY_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_MEMORY_H

#include <stddef.h>

#include "common/base/err.h"

/* Room for control blocks before the data: 64 KiB is the largest usual page. */
#define SHM_CTL_BYTES ((size_t)64 << 10)

/* Makes sealed memory. Returns its descriptor, which is the caller's, or a negative errno with text. */
int shm_memory_create(const char *name, size_t bytes, struct zerr *);
/* Is this such memory, of this size? Returns 0 or -EPROTO. */
int shm_memory_check(int fd, size_t bytes);

#endif
