/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the arguments of collectives, as the `take` functions of struct zcoll need them. A rank finds all that it
 * can see alone before anything is sent. So a call that fails has not begun, and the rank may call again, while the
 * others wait in the right call. All return MPI_SUCCESS or the error class that native MPI gives, and then may say why
 * in struct zcoll.
 *
 * The zargs_take_* functions also keep what must outlive the MPI function: the datatypes, and for a persistent
 * collective (`keep` in struct zcoll) the arrays. Ranks are those of zsched_partners. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ARGS_H
#define ZIP_LIBZIP_ARGS_H

#include "libzip/coll/base/coll.h"

/* On an intercommunicator a root may also be MPI_ROOT or MPI_PROC_NULL. */
int zargs_check_root(const struct zsched *, int root);
/* Is the operation one, and for this datatype? */
int zargs_check_op(struct zcoll *);
/* A buffer with count elements, which may not be MPI_IN_PLACE. */
int zargs_check_data(struct zcoll *, const void *buf, MPI_Count count, MPI_Datatype);
/* The two buffers where they begin to be used by this rank: are they not the same? */
int zargs_check_alias(struct zcoll *, const void *, const void *);
/* The same for the block of this rank: in the receive buffer of a gather, or in the send buffer of a scatter. Nothing
 * is wrong where the other side is MPI_IN_PLACE. */
int zargs_check_gathered(const struct zsched *, struct zcoll *);
int zargs_check_scattered(const struct zsched *, struct zcoll *);

/* The data that the call sends, or receives: one count. */
int zargs_take_sent(struct zsched *, struct zcoll *);
int zargs_take_received(struct zsched *, struct zcoll *);
/* The same, but of no elements the datatype may be anything. */
int zargs_take_some_sent(struct zsched *, struct zcoll *);
int zargs_take_some_received(struct zsched *, struct zcoll *);
/* n counts and displacements. */
int zargs_take_vector_sent(struct zsched *, struct zcoll *, int n);
int zargs_take_vector_received(struct zsched *, struct zcoll *, int n);
/* n counts, displacements and types. The types become an array of the schedule's. */
int zargs_take_types_sent(struct zsched *, struct zcoll *, int n);
int zargs_take_types_received(struct zsched *, struct zcoll *, int n);
/* All slots that the call receives, or sends: a count for each rank, or one for all. */
int zargs_take_slots_received(struct zsched *, struct zcoll *);
int zargs_take_slots_sent(struct zsched *, struct zcoll *);
/* The counts received alone, n of them, of a buffer that has them all. */
int zargs_take_counts(struct zsched *, struct zcoll *, const void *buf, int n);

/* The datatype and operation of a reduction, which are right. */
int zargs_keep_reduction(struct zsched *, struct zcoll *);

/* For intercommunicators. Where both groups give data there is no MPI_IN_PLACE; otherwise as take says. */
int zargs_take_both(struct zsched *, struct zcoll *, zcoll_take_fn *take);
/* With a root: as at_root says where the root is MPI_ROOT, and as elsewhere says in the other group. Other ranks have
 * no arguments. */
int zargs_take_rooted(struct zsched *, struct zcoll *, zcoll_take_fn *at_root, zcoll_take_fn *elsewhere);

#endif
