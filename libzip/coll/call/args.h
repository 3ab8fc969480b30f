/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the arguments of collectives, as the `take` functions of struct zcoll need them. All return MPI_SUCCESS or
 * the error class that native MPI gives. The zargs_take_* functions also keep the datatypes. Ranks are those of
 * zsched_partners. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ARGS_H
#define ZIP_LIBZIP_ARGS_H

#include "libzip/coll/base/coll.h"

/* On an intercommunicator a root may also be MPI_ROOT or MPI_PROC_NULL. */
int zargs_check_root(const struct zsched *, int root);
int zargs_check_op(MPI_Op);
/* A buffer with count elements, which may not be MPI_IN_PLACE. */
int zargs_check_data(const void *buf, MPI_Count count, MPI_Datatype);

/* A buffer with count elements. */
int zargs_take_data(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype);
/* The data that the call sends, or receives. */
int zargs_take_sent(struct zsched *, struct zcoll *);
int zargs_take_received(struct zsched *, struct zcoll *);
/* A buffer with n counts. */
int zargs_take_blocks(struct zsched *, const void *buf, struct zvec counts, MPI_Datatype, int n);
/* A buffer with a count for each rank; on an intercommunicator for each rank of the remote group. */
int zargs_take_vector(struct zsched *, const void *buf, struct zvec counts, MPI_Datatype);
/* All slots that the call receives, or sends: a count for each rank, or one for all. */
int zargs_take_slots_received(struct zsched *, struct zcoll *);
int zargs_take_slots_sent(struct zsched *, struct zcoll *);
/* Counts, displacements and types for n ranks or neighbours. *types becomes an array of the schedule's. */
int zargs_take_types(struct zsched *, const void *buf, struct zvec counts, struct zvec displs,
	const MPI_Datatype **types, int n);

/* For intercommunicators. Where both groups give data there is no MPI_IN_PLACE; otherwise as take says. */
int zargs_take_both(struct zsched *, struct zcoll *, zcoll_take_fn *take);
/* With a root: as at_root says where the root is MPI_ROOT, and as elsewhere says in the other group. Other ranks have
 * no arguments. */
int zargs_take_rooted(struct zsched *, struct zcoll *, zcoll_take_fn *at_root, zcoll_take_fn *elsewhere);

#endif
