/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making intercommunicators (MPI-4.0 section 7.6). Whatever makes one, the members come to know both groups and an id;
 * from then on all is local to each part: its members of both groups meet, and make the native communicators that
 * comm.h describes. That is also done where all are in one part: the blocking collectives of a native intercommunicator
 * would have to be nonblocking ones here, and in MPICH 4.0.2 those give wrong results (MPI_Ibcast from any root but 0).
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_INTER_H
#define ZIP_LIBZIP_INTER_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/schedule/step.h"

struct zinter {
	int *mine, *theirs; /* vranks by rank; disjoint */
	int nmine, ntheirs;
	int64_t id; /* the same in all members of both */
};

/* Frees the two arrays. */
void zinter_free(struct zinter *);
/* Makes it, with the error handler of parent, where errors are raised: all members of both groups call this.
 * MPI_SUCCESS or an error code that has been raised. */
int zinter_make(const struct zinter *, MPI_Comm parent, const char *name, MPI_Comm *newcomm);
/* A native communicator gets the error handler of another one. */
void zinter_inherit(MPI_Comm from, MPI_Comm to);

/* MPI_Intercomm_create up to there: collective over local_comm, an intracommunicator. ZINTER_NATIVE: somebody is not of
 * this world (a child of MPI_Comm_spawn), so that everything is native; nothing has been allocated then. Otherwise
 * MPI_SUCCESS or an error code that has been raised. */
#define ZINTER_NATIVE (-1)
int zinter_agree(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
	const char *name, struct zinter *);

/* MPI_Comm_split, and by that MPI_Comm_create, of a spanning intercommunicator. An error code that has been raised. */
int zinter_split(struct zcomm *, int color, int key, MPI_Comm *newcomm, const char *name);

/* Its duplication: the steps besides that of the handle itself, and the end, which takes the new handle. An error
 * class. */
struct zinter_dup;
int zinter_dup_build(struct zsched *, struct zinter_dup **);
int zinter_dup_finish(struct zinter_dup *, MPI_Comm handle, MPI_Comm *newcomm);

#endif
