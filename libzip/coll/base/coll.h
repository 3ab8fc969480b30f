/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective call: its arguments in their largest form, and the functions that check them and build its schedule.
 *
 * The general shape of a collective is two-level: a native nonblocking collective on the shadow inside each part, an
 * exchange between the leaders of the parts (leader.h), and native again. So a byte crosses the bridge as few times as
 * possible. All members of a part issue the same native collectives in the same order, whatever their role. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_H
#define ZIP_LIBZIP_COLL_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/coll/base/vec.h"
#include "libzip/schedule/sched.h"

struct zcoll;

/* Checks the arguments, and keeps what must outlive a nonblocking call (zsched_keep_type, zsched_keep_op). MPI_SUCCESS
 * or an error class. */
typedef int zcoll_take_fn(struct zsched *, struct zcoll *);
/* Adds the steps. The arguments have been checked. It ends its last round. MPI_SUCCESS or an error class. */
typedef int zcoll_build_fn(struct zsched *, const struct zcoll *);

/* How a collective is done on an intercommunicator. The schedule is across (zsched_across) when these begin. */
struct zcoll_across {
	zcoll_take_fn *take;
	zcoll_build_fn *build;
};

/* The arguments of any collective; each uses those that it has. Buffers may be MPI_IN_PLACE as in MPI. */
struct zcoll {
	const char *name;    /* "MPI_Bcast" */
	zcoll_take_fn *take; /* NULL: nothing to check */
	zcoll_build_fn *build;
	const struct zcoll_across *across; /* NULL: not defined on intercommunicators */
	/* The blocking call on a local communicator where the native nonblocking function is wrong for these arguments;
	 * *rc is then the result. False: the native function is right. NULL: it always is. */
	bool (*local)(const struct zcoll *, MPI_Comm, int *rc);
	const void *sendbuf;
	MPI_Count sendcount;
	MPI_Datatype sendtype;
	void *recvbuf;
	MPI_Count recvcount;
	MPI_Datatype recvtype;
	bool vector; /* counts and displacements per rank, on the side where the ranks differ: */
	struct zvec sendcounts, sdispls, recvcounts, rdispls;
	const MPI_Datatype *sendtypes, *recvtypes; /* MPI_Alltoallw */
	MPI_Op op;
	int root;
	bool taken;	 /* the arguments have been checked and kept */
	bool keep;	 /* what is taken lasts longer than the caller's arrays: they are copied */
	const char *why; /* what is wrong with the arguments; NULL: their error class says it */
};

/* Makes, starts and waits for the schedule of a collective on a spanning communicator. An error of the arguments is
 * raised through the communicator's handler. Returns what the MPI function returns. */
int zcoll_run(struct zcomm *, const struct zcoll *);
/* The same, nonblocking: *request is the application's. */
int zcoll_start(struct zcomm *, const struct zcoll *, MPI_Request *request);

/* The single stages, for persistent collectives. */
/* Checks and keeps the arguments, once. MPI_SUCCESS or an error class. */
int zcoll_take(struct zsched *, struct zcoll *);
/* Makes a schedule that has not started. lasting: see zsched_set_lasting. MPI_SUCCESS or an error code that has been
 * raised. */
int zcoll_compile(struct zcomm *, const struct zcoll *, bool lasting, struct zsched **);
/* Raises an error class, with what `why` of the arguments says, or with the native library's words for the class.
 * Returns what the MPI function returns. */
int zcoll_raise(struct zcomm *, int class, const struct zcoll *);

#endif
