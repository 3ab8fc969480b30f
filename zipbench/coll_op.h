/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective operations that zipbench coll measures, as data: what each rank contributes and gets, and how it is
 * called: blocking, nonblocking, or by MMPI. `bytes` is what one rank sends to one rank (allgather: to all; a
 * reduction: the vector, reduce_scatter: the part of one rank).
 */
#ifndef ZIPBENCH_COLL_OP_H
#define ZIPBENCH_COLL_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_ROOT 0

struct coll_data { /* for one operation and size */
	int rank, ranks;
	size_t bytes;
	int count; /* of elements in `bytes` */
	MPI_Datatype type;
	char *send, *recv;		     /* recv: also what a broadcast sends */
	int *counts, *displs, *displs_bytes; /* [ranks] blocks of `bytes`; displacements in elements, and in bytes */
	MPI_Datatype *types;
};

enum coll_flow { COLL_NOTHING, COLL_MOVES, COLL_REDUCES };

struct coll_op {
	const char *name;
	enum coll_flow flow;
	bool to_each;					      /* a rank sends a block for each rank, else one */
	bool from_each;					      /* a rank gets a block of each rank */
	bool root_sends, root_gets;			      /* only the root does */
	bool extra;					      /* no collective: only where it is named */
	void (*run)(const struct coll_data *, MPI_Request *); /* request NULL: blocking */
	void (*mmpi)(const struct coll_data *);		      /* NULL: MMPI has none */
};

extern const struct coll_op coll_ops[];
extern const size_t coll_nops;

const struct coll_op *coll_op_find(const char *name); /* or NULL */
/* Bytes of both buffers. */
double coll_memory(const struct coll_op *, int ranks, double bytes);
/* Fills count, type and what goes with them from rank, ranks and bytes; allocates. false: no memory. */
bool coll_data_init(struct coll_data *, const struct coll_op *);
void coll_data_free(struct coll_data *);
/* Contents of which every byte says where it comes from and goes to; and whether they have arrived: the number of wrong
 * elements or bytes. */
void coll_fill(const struct coll_data *, const struct coll_op *);
size_t coll_check(const struct coll_data *, const struct coll_op *);

#endif
