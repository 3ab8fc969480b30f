/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that are small collectives of the members of a part, by the memory that they share (board.h): each gives at
 * most once, and takes what others give as soon as it is there, whoever comes late. What is native in coll_native.h
 * takes this way where it can; all members decide alike, as they all know how much each gives. Roots are ranks in the
 * shadow. All but zshared_fits return MPI_SUCCESS or an error class. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_BOARD_H
#define ZIP_LIBZIP_COLL_BOARD_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"

/* The members' vectors side by side: element displs[i] is the first one of the member with rank i in the shadow. */
struct zshared_vectors {
	void *buf;
	MPI_Count count;	 /* of each */
	const MPI_Count *counts; /* [nlocal] instead, NULL: all alike */
	const MPI_Aint *displs;	 /* [nlocal]; NULL: count apart */
	MPI_Datatype type;
};

/* May each member give so many elements? */
bool zshared_fits(const struct zcomm *, MPI_Count count, MPI_Datatype);
/* Could it, if the communicator had a board? What the bits of results depend on goes by this, see coll_ordered.h. */
bool zshared_could_fit(const struct zcomm *, MPI_Count count, MPI_Datatype);

int zshared_bcast(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
/* sendbuf: MPI_IN_PLACE where it is in all already. all counts on the root only. */
int zshared_gather(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
	const struct zshared_vectors *all, int root);
int zshared_allgather(struct zsched *, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
	const struct zshared_vectors *all);
/* recvbuf counts on the root only, where it is used from the beginning; op is one of those that zredop_exchanges, the
 * datatype without gaps. sendbuf: MPI_IN_PLACE on the root: in recvbuf. Combined in the order root, then the others by
 * rank. Who is not the root may add a gather, and the other way round: it gives the same. */
int zshared_reduce(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	int root);
/* Inclusive, or exclusive; op is a predefined one, the datatype without gaps. sendbuf: MPI_IN_PLACE: in recvbuf. */
int zshared_scan(struct zsched *, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype, MPI_Op,
	bool exclusive);

/* In the native representation, count * zbuf_size bytes. */
int zshared_pack(const void *buf, MPI_Count count, MPI_Datatype, char *to);
int zshared_unpack(const char *from, void *buf, MPI_Count count, MPI_Datatype);

#endif
