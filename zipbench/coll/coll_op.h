/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective operations that zipbench coll measures, as a table: what each rank contributes and gets, and how to
 * call the operation blocking, nonblocking or by MMPI. `bytes` is the size of the block from one rank to one rank
 * (allgather: from one rank to all; reduction: the vector; reduce_scatter: the block that one rank gets).
 */
#ifndef ZIPBENCH_COLL_COLL_OP_H
#define ZIPBENCH_COLL_COLL_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define COLL_ROOT 0

struct coll_data;

enum coll_flow { COLL_NOTHING, COLL_MOVES, COLL_REDUCES };

struct coll_op {
	const char *name;
	enum coll_flow flow;
	bool to_each;					      /* a rank sends a block for each rank, otherwise one */
	bool from_each;					      /* a rank gets a block of each rank */
	bool root_sends, root_gets;			      /* only the root does */
	bool extra;					      /* no collective: measured only if --ops names it */
	void (*run)(const struct coll_data *, MPI_Request *); /* request NULL: blocking */
	void (*mmpi)(const struct coll_data *);		      /* NULL: MMPI lacks it */
};

extern const struct coll_op coll_op_table[];
extern const size_t coll_op_count;

const struct coll_op *coll_op_find(const char *name); /* or NULL */

#endif
