/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMMNEW_H
#define ZIP_LIBZIP_COMMNEW_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/world/group.h"

/* In MPI_Init, when the world is known: a native communicator of our own over the base
 * communicator, for messages inside the part that no application receives. Collective over the
 * part. A native error code. */
int zcommnew_init(void);
void zcommnew_fini(void);

/* Local parent: waits, with progress, until all members have come, so that the blocking native
 * function that follows (there is no nonblocking one) keeps nobody else waiting. A native error
 * code. */
int zcommnew_meet(MPI_Comm local);

/* The members of the group in my part, for a native function on comm. MPI_GROUP_EMPTY is not to be
 * freed. MPI_SUCCESS or an error code that has been raised. */
int zcommnew_native_group(MPI_Comm comm, const struct zgroup *, MPI_Group *native, const char *name);

/* Local communicator: are all members in its group? Native MPI is given those of my part alone, and would leave the
 * others out. MPI_SUCCESS or an error code that has been raised. */
int zcommnew_check_group(MPI_Comm local, const struct zgroup *, const char *name);

/* The new communicator of that parent with these members and this native communicator of the local ones: an entry
 * in the table, or none if nobody is elsewhere. board: ZCOMMNEW_MEET: the local members find one, collectively.
 * MPI_SUCCESS or an error class. */
#define ZCOMMNEW_MEET (-2)
int zcommnew_finish(const struct zcomm *parent, MPI_Comm native, uint64_t id, const int *vrank, int size, int board,
	MPI_Comm *newcomm);

/* MPI_Comm_split of an intracommunicator of the table; topo: the topology of the new communicator that this rank will
 * be in, of which it takes a reference of its own, or NULL. MPI_SUCCESS or an error code that has been raised. */
int zcommnew_split(struct zcomm *, int color, int key, struct ztopo *topo, const char *name, MPI_Comm *newcomm);

/*
 * Adds rounds that duplicate a native communicator with so many members; start calls MPI_Comm_idup. MPICH (4.0.2) makes
 * one communicator at a time: from the beginning of one until all members have begun it, others of the same process try
 * again in every turn. Where this process is the only member these turns do not even end (MPI_Comm_idup does not
 * return, and takes memory until there is none), so such a one waits until no other is under way. Members of the others
 * are better all here when it begins: they may be waiting for each other over the bridge for one that has to wait. With
 * one thread this is left to the program, as the native library does; then the attributes are those at the time of the
 * call. MPI_SUCCESS or an error class.
 */
int zcommnew_add_idup(struct zsched *, int (*start)(void *arg, MPI_Request *native), void *arg, int members);

/* A communicator of the same members, with the same topology, that the application does not see: what runs on it meets
 * nothing of c's. Collective over c. The caller has the only reference. NULL: *error is a code that has been raised. */
struct zcomm *zcommnew_twin(struct zcomm *c, const char *name, int *error);

/* Waits, with progress, until all members of the group that are in my part have come here with this id, which all of
 * them know: what blocks natively among them afterwards keeps nobody waiting. MPI_SUCCESS or an error code that has
 * been raised. */
int zcommnew_gather(const struct zgroup *, uint64_t id, const char *name);
/* Then: a native communicator of them in the order of the group, which returns errors. A native error code. */
int zcommnew_native(const struct zgroup *, uint64_t id, MPI_Comm *native, const char *name);
/* Tags of the application's that are told from each other there: from 0, so many. */
int zcommnew_tags(void);
/* The native communicator of our own, and what to use on it for a tag of the application's. */
MPI_Comm zcommnew_internal(int tag, int *mixed);
/* The same, and the one tag that is not mixed: of windows. */
MPI_Comm zcommnew_internal_win(int *tag);

/* What every member of the parent says about a new communicator: three numbers. */
enum { ZSAID_COLOR, ZSAID_KEY, ZSAID_ID, ZSAID_COUNT };
/* Of all n of them (across NULL: of an intracommunicator), as across says. MPI_SUCCESS, or an error code that has been
 * raised. *all is to be freed then. */
struct zcoll_across;
int zcommnew_hear(struct zcomm *, const char *name, const struct zcoll_across *across, int n,
	const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT]);
/* The vranks of those (of n, with these vranks) that said color, in their new order: by key, then by rank. Returns how
 * many, or -1 without memory; the id is that proposed by the first of them. */
int zcommnew_select(const int64_t (*said)[ZSAID_COUNT], const int *of, int n, int64_t color, int *vrank, int64_t *id);

#endif
