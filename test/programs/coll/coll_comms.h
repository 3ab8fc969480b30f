/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators on which the collective programs try everything: the world, reversed, with the ranks of the clusters
 * interleaved in two ways, without one rank, and a half of the world. */
#ifndef ZIP_TEST_COLL_COMMS_H
#define ZIP_TEST_COLL_COMMS_H

#include "../check.h"

#define COMMS 6
static const char *const comm_names[COMMS] = {"world", "reversed", "odd first", "shuffled", "without 1", "halves"};
static MPI_Comm comms[COMMS];
static MPI_Comm comm; /* the one being tried */
static int me, np;    /* rank and size in it */

static inline void make_comms(void)
{
	comms[0] = WORLD;
	MPI_Comm_split(WORLD, 0, -rank, &comms[1]);
	MPI_Comm_split(WORLD, 0, rank % 2 ? 0 : 1, &comms[2]);
	MPI_Comm_split(WORLD, 0, rank * 7 % 5, &comms[3]);
	MPI_Comm_split(WORLD, rank == 1 ? MPI_UNDEFINED : 3, rank, &comms[4]);
	MPI_Comm_split(WORLD, rank % 2, 10 - rank, &comms[5]);
}
static inline void free_comms(void)
{
	for (int i = 1; i < COMMS; i++)
		if (comms[i] != MPI_COMM_NULL)
			MPI_Comm_free(&comms[i]);
}
/* False: not in it. */
static inline int use_comm(int i)
{
	comm = comms[i];
	if (comm == MPI_COMM_NULL)
		return 0;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &np);
	return 1;
}

#endif
