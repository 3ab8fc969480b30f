/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors 0 to 2 of a program that was started without them. */
#ifndef ZIP_COMMON_BASE_STDFDS_H
#define ZIP_COMMON_BASE_STDFDS_H

/* To be called first in main(). A file or socket that is opened later would get the number of a closed standard
 * descriptor, and would then be read as input or receive the output. So this function takes the numbers that are free.
 * Reading and writing there still fails with EBADF. */
void zstdfds_take(void);

#endif
