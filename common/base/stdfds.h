/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors 0 to 2 of a program that was started without them. */
#ifndef ZIP_COMMON_BASE_STDFDS_H
#define ZIP_COMMON_BASE_STDFDS_H

/*
 * Call first in main(). What is closed of standard input, output and error would be the number of the next file or
 * socket that is opened, which would then be read as input, or get the output. So it is taken; reading and writing
 * still fail with EBADF.
 */
void zstdfds_take(void);

#endif
