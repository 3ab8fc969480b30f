/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the rows of all processes at rank 0 and writes one file. Inside the shim, in the thread of MPI_Init and
 * MPI_Finalize. */
#ifndef ZIP_LIBZIP_RECORD_FILE_H
#define ZIP_LIBZIP_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Makes a communicator for the rows. Collective over the world. Rank 0 checks that the file can be made, and removes
 * an older graph of that name, so a job that dies leaves none. It is an error if ranks of a native job do not call
 * this: they lack the variable. 0 or a negative errno with the reason. */
int zrecord_file_open(const char *path, struct zerr *);
/* Collective over the world: rank 0 asks the others for their rows, one after the other with some ahead, so that it
 * holds few rows at a time. row NULL: this process lacks memory for one. 0, or a negative errno with the reason in
 * rank 0. */
int zrecord_file_write(const uint8_t *row, size_t len, struct zerr *);
/* The rank of this process in the world, for messages. After zrecord_file_open. */
int zrecord_file_rank(void);

#endif
