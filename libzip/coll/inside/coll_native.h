/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that are native nonblocking collectives on the shadow. Roots are ranks in the shadow;
 * vectors have nlocal entries by shadow rank and must live as long as the schedule. An alltoall of who is alone there
 * is a copy. All return MPI_SUCCESS or an error class.
 */
#ifndef ZIP_LIBZIP_COLL_NATIVE_H
#define ZIP_LIBZIP_COLL_NATIVE_H

#include <mpi.h>

#include "libzip/schedule/step.h"

int znative_bcast(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
int znative_gather(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root);
int znative_gatherv(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype, int root);
int znative_scatter(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	MPI_Count recvcount, MPI_Datatype recvtype, int root);
int znative_scatterv(struct zsched *, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs,
	MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);
int znative_allgatherv(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
	const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype);
int znative_alltoallv(struct zsched *, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	MPI_Datatype sendtype, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	MPI_Datatype recvtype);
int znative_alltoallw(struct zsched *, const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,
	const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls,
	const MPI_Datatype *recvtypes);
int znative_reduce(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	int root);
int znative_scan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op);
int znative_exscan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op);

#endif
