/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectives share: the arguments of a call in their largest form, the three ways to call
 * one (blocking, nonblocking, persistent), and the builders, which compile a collective into a
 * schedule and can be combined.
 *
 * The general shape is two-level: a native nonblocking collective on the shadow inside each part,
 * an exchange between the leaders, native again; so that a byte crosses the bridge as few times as
 * possible. All members of a part issue the same native collectives in the same order, whatever
 * their role. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_H
#define ZIP_LIBZIP_COLL_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/world/comm.h"
#include "libzip/schedule/step.h"
#include "libzip/world/world.h"

/* An array of counts or displacements of the application: int, or MPI_Count and MPI_Aint of the _c
 * forms. */
struct zvec {
	const void *p;
	bool is_int;
};
_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8 && sizeof(int) == 4, "struct zvec tells by size");
#define ZVEC(array) ((struct zvec){(array), sizeof *(array) == sizeof(int)})
static inline MPI_Count zvec_get(struct zvec v, int i)
{
	return v.is_int ? ((const int *)v.p)[i] : ((const MPI_Count *)v.p)[i];
}

struct zcoll;

/* How a collective is done on an intercommunicator: like take and build of struct zcoll. Schedules begin across. */
struct zcoll_across {
	int (*take)(struct zsched *, struct zcoll *);
	int (*build)(struct zsched *, const struct zcoll *);
};

/* The arguments of any collective; each uses what it has. In the builders, buffers may be
 * MPI_IN_PLACE as in MPI. */
struct zcoll {
	const char *name; /* "MPI_Bcast" */
	/* Checks the arguments and keeps what must outlive a nonblocking call (zsched_keep_type,
	 * zsched_keep_op). */
	int (*take)(struct zsched *, struct zcoll *);
	int (*build)(struct zsched *, const struct zcoll *);
	const struct zcoll_across *across; /* NULL: not defined on intercommunicators */
	/* The blocking call on a local communicator, if the native nonblocking one is wrong for these arguments: *rc is
	 * what it returns. False: it is not. NULL: never. */
	bool (*local)(const struct zcoll *, MPI_Comm, int *rc);
	const void *sendbuf;
	MPI_Count sendcount;
	MPI_Datatype sendtype;
	void *recvbuf;
	MPI_Count recvcount;
	MPI_Datatype recvtype;
	bool vector; /* counts and displacements per rank on the side where the ranks differ: */
	struct zvec sendcounts, sdispls, recvcounts, rdispls;
	const MPI_Datatype *sendtypes, *recvtypes; /* Alltoallw */
	MPI_Op op;
	int root;
	bool taken; /* the arguments have been */
};

/* On a spanning communicator. An argument error is raised through its handler. */
int zcoll_run(struct zcomm *, const struct zcoll *);
int zcoll_start(struct zcomm *, const struct zcoll *, MPI_Request *);
int zcoll_init(struct zcomm *, const struct zcoll *, MPI_Request *);
/* Waits for the native nonblocking form of a blocking call on a local communicator. rc: what
 * starting it returned. */
int zcoll_wait_native(int rc, MPI_Request *, MPI_Comm, const char *name);
/* True if the blocking native form is right on this local communicator; the same answer in all its
 * members. */
bool zcoll_native_may_block(MPI_Comm);

/* Waits until all members of the communicator have called it: MPI_Finalize, communicator creation.
 * MPI_SUCCESS or an error code (raised). */
int zcoll_barrier(struct zcomm *);
/* The same for a broadcast that is part of the MPI function name, on an intracommunicator. */
int zcoll_bcast(struct zcomm *, const char *name, void *buf, MPI_Count count, MPI_Datatype, int root);
/* And for an exclusive scan; rank 0 gets nothing. */
int zcoll_exscan(struct zcomm *, const char *name, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype,
	MPI_Op);

/* Builders. Arguments are checked already. MPI_SUCCESS or an error class. They end their last
 * round. */
int zbuild_barrier(struct zsched *);
int zbuild_bcast(struct zsched *, void *buf, MPI_Count count, MPI_Datatype, int root);
int zbuild_gather(struct zsched *, const struct zcoll *);    /* regular, or vector with recvcounts and rdispls */
int zbuild_scatter(struct zsched *, const struct zcoll *);   /* regular, or vector with sendcounts and sdispls */
int zbuild_allgather(struct zsched *, const struct zcoll *); /* regular, or vector with recvcounts and rdispls */
int zbuild_reduce(struct zsched *, const struct zcoll *);    /* sendbuf, recvbuf, recvcount, recvtype, op, root */
int zbuild_allreduce(struct zsched *, const struct zcoll *); /* the same, without root */

/* Am I the leader of my part? */
static inline bool zcoll_is_leader(const struct zcomm *c)
{
	return c->rank == c->parts[c->my_part].leader;
}
/* The ranks of part p in order: for (r = c->parts[p].leader; r < c->size; r = zcoll_next_rank(c, p,
 * r)). */
static inline int zcoll_next_rank(const struct zcomm *c, int p, int r)
{
	if (c->blocked)
		return r + 1 < c->parts[p].leader + c->parts[p].count ? r + 1 : c->size;
	do
		r++;
	while (r < c->size && zworld.place[c->vrank[r]].part != (uint32_t)c->parts[p].part);
	return r;
}

/* Several leaders in each part: number a is in charge of the members first(a) to first(a + 1) - 1 of n, by their
 * numbers in the part (for mine: ranks in the shadow), and is the first of them itself. So they are spread over the
 * members. */
static inline int zcoll_first(int n, int leaders, int a)
{
	return (int)((long)n * a / leaders);
}
/* Which leader am I? -1: none. */
static inline int zcoll_my_number(const struct zcomm *c, int leaders)
{
	for (int a = 0; a < leaders; a++)
		if (zcoll_first(c->nlocal, leaders, a) == c->shadow_rank[c->rank])
			return a;
	return -1;
}

/* For take: MPI_SUCCESS or the error class that native MPI gives. Across, a root may also be MPI_ROOT or MPI_PROC_NULL.
 */
int zcheck_root(const struct zsched *, int root);
int zcheck_op(MPI_Op);
/* A buffer with count elements: not MPI_IN_PLACE. */
int zcheck_data(const void *buf, MPI_Count count, MPI_Datatype);
/* The same; the type is kept. */
int ztake_data(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype);
/* A buffer with n counts, or one per rank (across: of the remote group); the type is kept. */
int ztake_blocks(struct zsched *, const void *buf, struct zvec counts, MPI_Datatype, int n);
int ztake_vector(struct zsched *, const void *buf, struct zvec counts, MPI_Datatype);
/* Across, where both groups give (there is no MPI_IN_PLACE), and to or from a root: as take and at_root say in
 * MPI_ROOT's place, and as elsewhere says in the other group; others have no arguments. */
int ztake_both(struct zsched *, struct zcoll *, int (*take)(struct zsched *, struct zcoll *));
int ztake_rooted(struct zsched *, struct zcoll *, int (*at_root)(struct zsched *, struct zcoll *),
	int (*elsewhere)(struct zsched *, struct zcoll *));
/* What is sent, or received, as ztake_data. */
int ztake_sent(struct zsched *, struct zcoll *);
int ztake_received(struct zsched *, struct zcoll *);
/* Counts, displacements and types for n ranks or neighbours; the types are kept, in an array of the schedule's. */
int ztake_types(struct zsched *, const void *buf, struct zvec counts, struct zvec displs, const MPI_Datatype **types,
	int n);

#endif
