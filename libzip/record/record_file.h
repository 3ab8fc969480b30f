/* SPDX-License-Identifier: BSD-3-Clause */
/* From the rows of all processes to one file, through rank 0. Inside the shim, MPI_Init's and MPI_Finalize's thread. */
#ifndef ZIP_LIBZIP_RECORD_FILE_H
#define ZIP_LIBZIP_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Collective over the world: a communicator for it. Rank 0 checks that the file can be made, and removes an older graph
 * of that name: a job that dies leaves none. 0 or a negative errno with the reason. */
int zrecord_file_open(const char *path, struct zerr *);
/* Collective over the world: rank 0 asks the others for their rows one after the other, some ahead, so that it holds
 * few at a time. 0, or a negative errno with the reason in rank 0. row NULL: this process has none for lack of memory.
 */
int zrecord_file_write(const uint8_t *row, size_t len, struct zerr *);

#endif
