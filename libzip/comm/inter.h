/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of a new intercommunicator (MPI-4.0 section 7.6). In every way to make one, the members come to know both
 * groups and an id. From then on all work is local to each part: its members of both groups meet, and make the native
 * communicators that libzip/world/comm.h describes. That is also done where all members are in one part. There the
 * blocking collectives of a native intercommunicator would have to be nonblocking ones, and these give wrong results in
 * MPICH 4.0.2 (MPI_Ibcast from any root but 0). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_INTER_H
#define ZIP_LIBZIP_INTER_H

#include <stdint.h>
#include <stdlib.h>

struct zattached;

struct zinter {
	int *mine, *theirs; /* vranks by rank; disjoint */
	int nmine, ntheirs;
	int64_t id;		   /* the same in all members of both groups */
	struct zattached *session; /* of my group (libzip/world/group.h); NULL: of none */
};

/* Frees the two arrays. */
static inline void zinter_free(struct zinter *i)
{
	free(i->mine);
	free(i->theirs);
	i->mine = i->theirs = NULL;
}

#endif
