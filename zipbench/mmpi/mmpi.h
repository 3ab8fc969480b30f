/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MMPI, the system of the thesis before the Leiden Zipper (F. Treurniet, The Leiden Zipper, section 3), written anew
 * from its description as a baseline for measurements. There are two groups of processes, and between them one
 * forwarder that does one thing at a time. Within a group everything is native MPI. A transfer between the groups
 * begins with a handshake: the caller sends seven integers to the forwarder, which answers with an identifier, the tag
 * of the transfer. The caller blocks until the answer has come, also in the nonblocking functions.
 *
 * Differences from the thesis: the forwarder is rank 0 of one native job. In the thesis it is a job of its own to which
 * the others connect, but Debian's MPICH over UCX has no MPI_Comm_connect. The low group is ranks 1 to nlow, the high
 * group is the other ranks. Each group has a communicator with the forwarder in front, as after a connection. The
 * groups reach each other only through the forwarder.
 *
 * The text of the thesis names ten functions, all of which are here: Send, Recv, Isend, Irecv, Barrier, Bcast,
 * Alltoall, Alltoallv, Reduce, Allreduce. Things that it does not mention are left out: only MPI_COMM_WORLD, no
 * wildcards, no MPI_IN_PLACE, predefined operations, types without gaps, messages below 2 GiB. Anything else ends the
 * job with a line. The status of a forwarded message names the forwarder and the identifier.
 *
 * Processes that wait spin, as MPI makes them; on few cores preload test/lib/yield.c. One thread in each process. All
 * functions return MPI_SUCCESS, as errors are MPI's own and fatal.
 */
#ifndef ZIPBENCH_MMPI_MMPI_H
#define ZIPBENCH_MMPI_MMPI_H

#include <mpi.h>
#include <stdbool.h>

/* After MPI_Init, in all ranks: makes groups of nlow and size - 1 - nlow ranks, both at least 1. The forwarder serves
 * here until the others have called mmpi_end; then it gets false, and only has to call MPI_Finalize. */
bool mmpi_begin(int nlow);
void mmpi_end(void);

/* Virtual ranks: the low group from 0, then the high group. */
int MMPI_Comm_rank(MPI_Comm, int *rank);
int MMPI_Comm_size(MPI_Comm, int *size);

int MMPI_Send(const void *, int count, MPI_Datatype, int dest, int tag, MPI_Comm);
int MMPI_Recv(void *, int count, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status *);
/* The requests are native: MPI_Wait and the like take them. */
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
