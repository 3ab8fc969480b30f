/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that are collectives of the members of my part: native nonblocking ones on the shadow, or through shared memory
 * (shared.h, pairs.h) where these fit. Roots are ranks in the shadow. Vectors have nlocal entries by rank in the
 * shadow, and must live as long as the schedule. In a part with one member an alltoall is a copy. All functions return
 * MPI_SUCCESS or an error class. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_INSIDE_H
#define ZIP_LIBZIP_INSIDE_H

#include <mpi.h>

#include "libzip/schedule/sched.h"

int zinside_bcast(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
int zinside_gather(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root);
int zinside_gatherv(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype, int root);
int zinside_scatter(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root);
int zinside_scatterv(struct zsched *, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);
int zinside_allgatherv(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype);
int zinside_alltoallv(struct zsched *, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	MPI_Datatype recvtype);
int zinside_alltoallw(struct zsched *, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	const MPI_Datatype *recvtypes);
int zinside_reduce(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	int root);
int zinside_scan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op);
int zinside_exscan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op);

#endif
