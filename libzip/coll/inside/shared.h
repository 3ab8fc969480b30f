/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that are small collectives of the members of a part, through the memory that they share (libzip/world/board.h).
 * Each member gives at most once, and takes what others give as soon as it is there, however late some of them come.
 * inside.h takes this way where it can; all members decide alike, as they all know how much each gives. Roots are ranks
 * in the shadow. Functions that return int return MPI_SUCCESS or an error class. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_SHARED_H
#define ZIP_LIBZIP_SHARED_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/sched.h"

/* The vectors of the members in one buffer: element displs[i] is the first one of the member with rank i in the shadow.
 */
struct zshared_vectors {
	void *buf;
	MPI_Count count;	 /* elements of each */
	const MPI_Count *counts; /* [nlocal] instead; NULL: all have count */
	const MPI_Aint *displs;	 /* [nlocal]; NULL: each begins count elements behind the one before */
	MPI_Datatype type;
};

/* May each member give so many elements this way? */
bool zshared_fits(const struct zcomm *, MPI_Count count, MPI_Datatype);
/* Could it, if the communicator had a board? The bits of results may depend on this and not on zshared_fits, see
 * ordered.h. */
bool zshared_could_fit(const struct zcomm *, MPI_Count count, MPI_Datatype);

int zshared_bcast(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
/* sendbuf is MPI_IN_PLACE where the data are in `all` already. `all` counts on the root only. */
int zshared_gather(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
	const struct zshared_vectors *all, int root);
int zshared_allgather(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
	const struct zshared_vectors *all);
/* Combines in the order root, then the others by rank. op is one that zredop_exchanges, and the datatype has no gaps.
 * recvbuf counts on the root only, where it is used from the beginning. With MPI_IN_PLACE as sendbuf the root's operand
 * is in recvbuf. A member that is not the root may add a gather instead, and the other way round: both give the same.
 */
int zshared_reduce(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	int root);
/* Inclusive or exclusive. op is predefined, and the datatype has no gaps. With MPI_IN_PLACE as sendbuf the operand is
 * in recvbuf. */
int zshared_scan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	bool exclusive);

/* Packing in the native representation: count * zbuf_size bytes. */
int zshared_pack(const void *buf, MPI_Count count, MPI_Datatype, char *to);
int zshared_unpack(const char *from, void *buf, MPI_Count count, MPI_Datatype);

#endif
