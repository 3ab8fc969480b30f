/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several edges between the same two ranks, as in a periodic dimension of length one or two: which block of the sender
 * comes to which place? The standard has long been silent, and MPICH 4.0.2 answers differently for
 * MPI_Neighbor_alltoall and for the vector forms. A program shall get its own library's answer. So the native library
 * is asked, with a process that is its own neighbour four times. MPICH 4.2.1 answers differently again. In a world of
 * both, a block must not have two places, so all members of a communicator take the answer of one of them.
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_TOPO_ORDER_H
#define ZIP_LIBZIP_TOPO_ORDER_H

#include "libzip/world/topo.h"

enum ztopo_form { ZTOPO_ALLTOALL, ZTOPO_ALLTOALLV, ZTOPO_ALLTOALLW, ZTOPO_FORMS };
enum ztopo_order {
	ZTOPO_ORDER_UNKNOWN,
	ZTOPO_ORDER_SAME,     /* the first block to the first place */
	ZTOPO_ORDER_REVERSED, /* the first to the last */
	ZTOPO_ORDER_OPPOSITE, /* in each dimension of a grid: a block sent down comes from above */
};

/* The native library's order on a topology of that kind. */
enum ztopo_order ztopo_order_native(int kind, enum ztopo_form);
/* The native library's orders on such a topology, for all forms, as one number that is never 0. */
int ztopo_order_all(const struct ztopo *);
/* The order that the members of a communicator with that topology have. */
enum ztopo_order ztopo_order_of(const struct ztopo *, enum ztopo_form);
/* The place of the block that is received for source number l, where the blocks of one source are received in the
 * order in which they were sent. */
int ztopo_order_place(const struct ztopo *, int l, enum ztopo_order);

#endif
