/* SPDX-License-Identifier: BSD-3-Clause */
/* The last step of making a communicator. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_MAKE_H
#define ZIP_LIBZIP_COMM_MAKE_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/world/comm.h"

/* Makes an entry in the table for the new communicator of that parent, with these members and this native communicator
 * of the local ones, or none if all members are local. board is the number of a board that the local members have
 * agreed on, -1: they have none; ZCOMM_MAKE_MEET: they find one now, collectively. MPI_SUCCESS or an error class. */
#define ZCOMM_MAKE_MEET (-2)
int zcomm_make(const struct zcomm *parent, MPI_Comm native, uint64_t id, const int *vrank, int size, int board,
	MPI_Comm *newcomm);

#endif
