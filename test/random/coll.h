/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One collective call of this rank: its arguments, in int and in large counts, and its buffers. What all ranks must
 * agree on is drawn from the seed alone; layouts, displacements and contents are drawn from the seed and the rank.
 */
#ifndef ZIP_RANDOM_COLL_H
#define ZIP_RANDOM_COLL_H

#include "model.h"
#include "types.h"
#include "waiting.h"

/* The first one of each row has a root. */
enum coll_kind {
	COLL_BARRIER,
	COLL_BCAST,
	COLL_GATHER,
	COLL_GATHERV,
	COLL_SCATTER,
	COLL_SCATTERV,
	COLL_ALLGATHER,
	COLL_ALLGATHERV,
	COLL_ALLTOALL,
	COLL_ALLTOALLV,
	COLL_ALLTOALLW,
	COLL_REDUCE,
	COLL_ALLREDUCE,
	COLL_REDUCE_SCATTER,
	COLL_REDUCE_SCATTER_BLOCK,
	COLL_SCAN,
	COLL_EXSCAN,
	COLL_NEIGHBOR_ALLGATHER,
	COLL_NEIGHBOR_ALLGATHERV,
	COLL_NEIGHBOR_ALLTOALL,
	COLL_NEIGHBOR_ALLTOALLV,
	COLL_NEIGHBOR_ALLTOALLW,
	COLL_KINDS
};
enum coll_form { COLL_BLOCKING, COLL_NONBLOCKING, COLL_PERSISTENT };

/* The arguments for what is sent, or for what is received. */
struct coll_part {
	void *at;
	int count;
	MPI_Datatype type;
	int counts[MOST_RANKS], displs[MOST_RANKS];
	MPI_Count counts_c[MOST_RANKS];
	MPI_Aint displs_c[MOST_RANKS];
	MPI_Datatype types[MOST_RANKS];
	int ntypes; /* of types */
	bool own;   /* type is to be freed */
	struct buffer buffer;
};

/* What all ranks draw alike. */
struct coll_shape {
	enum coll_kind kind;
	enum coll_form form;
	bool large;    /* the form with large counts */
	bool in_place; /* at those ranks that may */
	int root, root_side;
	struct unit unit;
	int units;  /* of each block, or the most of any */
	int rounds; /* of persistent ones: how often it is started */
	int number; /* of reductions: index of the type, see coll_numbers.c */
	int count;  /* of reductions */
};

struct coll {
	const struct model_comm *comm;
	uint64_t seed;
	struct coll_shape shape;
	enum coll_form form; /* that is called */
	int me, side, root;  /* root: the argument */
	bool at_root;
	struct coll_part out, in;
	MPI_Op op;
	bool own_op;
	bool untraced; /* what is received is not determined */
	size_t result; /* bytes of the result from in.at on; 0: the whole buffer is traced */
	MPI_Request request;
};

struct coll_shape coll_shape(const struct model_comm *c, uint64_t seed);
const char *coll_name(enum coll_kind kind);
/* Draws the arguments of this rank. The caller gives them back with coll_end. */
struct coll *coll_new(const struct model_comm *c, uint64_t seed);
/* Calls the function that shape names. Returns its error. */
int coll_call(struct coll *c);
/* Traces what was received. */
void coll_trace(struct coll *c);
/* Fills the buffers anew, for the next start of a persistent one. */
void coll_refill(struct coll *c, uint64_t round);
/* Frees datatypes and operation, which may happen as soon as the call has returned. */
void coll_free_handles(struct coll *c);
void coll_end(struct coll *c);

/* --- coll_numbers.c: what reductions add up */
/* Draws a type of numbers with an operation. */
int coll_number(struct draw *d);
/* The same number, or one like it whose type has no gaps. */
int coll_number_without_gaps(int number);
const char *coll_number_name(int number);
MPI_Datatype coll_number_type(int number, bool *own);
MPI_Op coll_number_op(int number, bool large, bool *own);
/* Fills count numbers. */
void coll_number_fill(int number, void *at, int count, uint64_t seed);
/* Distance between two of them, in bytes. */
int coll_number_extent(int number);

/* --- coll_reduce.c */
/* Draws the arguments of a reduction; the rest of c is set. */
void coll_reduce_arguments(struct coll *c, struct draw *d);

#endif
