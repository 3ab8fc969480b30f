/* SPDX-License-Identifier: BSD-3-Clause */
/* A datatype as bytes (typecode.h). */
#ifndef ZIP_LIBZIP_TYPECODE_WRITE_H
#define ZIP_LIBZIP_TYPECODE_WRITE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the description, malloc()ed. MPI_SUCCESS, MPI_ERR_TYPE, MPI_ERR_NO_MEM or an error of native MPI. */
int ztypecode_write(MPI_Datatype, uint8_t **code, size_t *len);

#endif
