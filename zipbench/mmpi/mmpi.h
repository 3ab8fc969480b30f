/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MMPI, the thesis' system before the Leiden Zipper (F. Treurniet, The Leiden Zipper, section 3), written anew from its
 * description as a baseline for measurements: two groups of processes, and between them one forwarder that does one
 * thing at a time. Within a group everything is native MPI. What crosses begins with a handshake: seven integers to the
 * forwarder, which answers with an identifier that is the tag of the transfer; the caller blocks until it has come,
 * also in the nonblocking functions.
 *
 * Where this differs from the thesis:
 * - The forwarder is rank 0 of one native job, not a job of its own to which the others connect: Debian's MPICH over
 * UCX has no MPI_Comm_connect. The low group are ranks 1 to nlow, the high group the others; each has a communicator
 * with the forwarder in front, as after a connection. The groups need no way to each other but over the forwarder.
 * - Its text names ten functions (Send, Recv, Isend, Irecv, Barrier, Bcast, Alltoall, Alltoallv, Reduce, Allreduce);
 * they are all here. What it does not say is left out: only MPI_COMM_WORLD, no wildcards, no MPI_IN_PLACE, predefined
 *   operations, types without gaps, messages below 2 GiB. Anything else ends the job with a line. A status that a
 * caller gets of a forwarded message names the forwarder and the identifier.
 *
 * Processes that wait spin, as MPI makes them; on few cores preload test/lib/yield.c. One thread for each process.
 * All return MPI_SUCCESS, as errors are MPI's own and fatal.
 */
#ifndef ZIPBENCH_MMPI_MMPI_H
#define ZIPBENCH_MMPI_MMPI_H

#include <mpi.h>
#include <stdbool.h>

/* Behind MPI_Init, in all ranks: groups of nlow and size - 1 - nlow, both at least 1. In the forwarder it serves until
 * the others have called mmpi_end, and returns false: that process has nothing more to do but MPI_Finalize. */
bool mmpi_begin(int nlow);
void mmpi_end(void);

/* Virtual ranks: the low group from 0, the high group behind it. */
int MMPI_Comm_rank(MPI_Comm, int *rank);
int MMPI_Comm_size(MPI_Comm, int *size);

int MMPI_Send(const void *, int count, MPI_Datatype, int dest, int tag, MPI_Comm);
int MMPI_Recv(void *, int count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status *);
/* The requests are native ones: MPI_Wait and the like. */
int MMPI_Isend(const void *, int count, MPI_Datatype, int dest, int tag, MPI_Comm, MPI_Request *);
int MMPI_Irecv(void *, int count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request *);
int MMPI_Barrier(MPI_Comm);
int MMPI_Bcast(void *, int count, MPI_Datatype, int root, MPI_Comm);
int MMPI_Alltoall(const void *, int scount, MPI_Datatype, void *, int rcount, MPI_Datatype, MPI_Comm);
int MMPI_Alltoallv(const void *, const int *scounts, const int *sdispls, MPI_Datatype, void *, const int *rcounts,
	const int *rdispls, MPI_Datatype, MPI_Comm);
int MMPI_Reduce(const void *, void *, int count, MPI_Datatype, MPI_Op, int root, MPI_Comm);
int MMPI_Allreduce(const void *, void *, int count, MPI_Datatype, MPI_Op, MPI_Comm);

#endif
