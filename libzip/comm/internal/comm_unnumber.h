/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native communicators without MPICH's number.
 *
 * MPICH 5 numbers each communicator that comes from MPI_COMM_WORLD or from a group, for the choice of a virtual
 * communication interface (VCI); versions behind 4.2.1 are taken to do so, too. It broadcasts the number at the end of
 * MPI_Comm_idup, within the progress of whatever call is made. Two such duplications with common members hang where
 * these end them in different order. A communicator of MPI_Intercomm_merge has no number, nor have those that come from
 * it; they use the first VCI.
 *
 * So the internal communicator (comm_internal.h) has no number. What is split off MPI_COMM_WORLD or a duplicate, or
 * created there, is natively made of the internal one (zcomm_native_child). What is made of a group, as an
 * intercommunicator is, gets a number and is exchanged (zcomm_native_settle). MPI_COMM_WORLD and its duplicates alone
 * keep theirs, and the duplications of these have an order (comm_idup.h).
 */
#ifndef ZIP_LIBZIP_COMM_UNNUMBER_H
#define ZIP_LIBZIP_COMM_UNNUMBER_H

#include <mpi.h>

/* Exchanges a native communicator that returns errors for one without a number, with the same members in the same
 * order. It returns errors, too, and has no hints. Collective; blocks. The members agree after each step, so that none
 * waits for one that has failed. Returns what has failed at this member, a native error code. *comm becomes
 * MPI_COMM_NULL where any member has failed. Without the shim's lock. */
int zcomm_unnumber(MPI_Comm *comm);

#endif
