/* SPDX-License-Identifier: BSD-3-Clause */
/* The last steps of making a communicator. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_MAKE_H
#define ZIP_LIBZIP_COMM_MAKE_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/comm/comm_outcome.h"
#include "libzip/world/comm.h"

/* Makes an entry in the table for the new communicator of that parent, with these members and this native communicator
 * of the local ones, or none if all members are local. MPI_SUCCESS or an error class; then the native communicator is
 * still the caller's. */
int zcomm_make(const struct zcomm *parent, MPI_Comm native, uint64_t id, const int *vrank, int size);
/* Joins the board of that number, which the local members have agreed on (-1: there is none), where the communicator
 * has an entry. */
void zcomm_make_join(MPI_Comm, int board);
/* The local members find a board. All of them are here. */
void zcomm_make_board(MPI_Comm);
/* The end of a constructor, when the members have agreed: finds a board, or gives up what has been made and raises the
 * error on the parent. *newcomm becomes `made`, or MPI_COMM_NULL. Returns what the MPI function returns. */
int zcomm_make_end(MPI_Comm made, MPI_Comm parent, const char *name, const struct zcomm_outcome *, MPI_Comm *newcomm);
/* Gives up a communicator that the application has not got, with or without an entry. MPI_COMM_NULL is allowed. */
void zcomm_make_undo(MPI_Comm);

#endif
