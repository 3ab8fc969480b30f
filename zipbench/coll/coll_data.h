/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffers of an operation of zipbench coll: what they hold, and whether it arrives. */
#ifndef ZIPBENCH_COLL_COLL_DATA_H
#define ZIPBENCH_COLL_COLL_DATA_H

#include "zipbench/coll/coll_op.h"

struct coll_data { /* for one operation and size */
	int rank, ranks;
	size_t bytes;
	int count; /* of elements in `bytes` */
	MPI_Datatype type;
	char *send, *recv;		     /* recv: also the buffer of a broadcast */
	int *counts, *displs, *displs_bytes; /* [ranks] blocks of `bytes`; displacements in elements, and in bytes */
	MPI_Datatype *types;
};

/* The bytes of both buffers. */
double coll_data_memory(const struct coll_op *, int ranks, double bytes);
/* Allocates, and fills count, type and all that follows from rank, ranks and bytes. False: no memory. */
bool coll_data_init(struct coll_data *, const struct coll_op *);
void coll_data_free(struct coll_data *);
/* Fills the send buffer so that every byte tells its sender and its receiver. */
void coll_data_fill(const struct coll_data *, const struct coll_op *);
/* The number of elements or bytes that are wrong in the receive buffer. */
size_t coll_data_check(const struct coll_data *, const struct coll_op *);

#endif
