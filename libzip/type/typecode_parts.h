/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of typecode.h: how datatypes are made, with arguments in one form for all of their variants. */
#ifndef ZIP_LIBZIP_TYPECODE_PARTS_H
#define ZIP_LIBZIP_TYPECODE_PARTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/type/typecode.h"

#define ZTYPECODE_DEPTH_MAX 256 /* datatypes in each other; native MPI frees them by recursion */
#define ZTYPECODE_REACH_MAX ((MPI_Count)PTRDIFF_MAX / 4) /* bytes; leaves room for sums of two, and for alignment */
#define ZTYPECODE_NODES_MAX 16384			 /* native MPI needs some KiB for each */
#define ZTYPECODE_HEADS_MAX 4

/* The numbers are on the wire. Heads; columns; where the meaning needs words: */
enum ztypecode_op {
	ZTYPECODE_NAMED,	  /* place in the table */
	ZTYPECODE_F90_REAL,	  /* digits, range; -1: MPI_UNDEFINED */
	ZTYPECODE_F90_COMPLEX,	  /* as real */
	ZTYPECODE_F90_INTEGER,	  /* range */
	ZTYPECODE_CONTIGUOUS,	  /* count */
	ZTYPECODE_VECTOR,	  /* count, blocklength, stride */
	ZTYPECODE_HVECTOR,	  /* count, blocklength, stride */
	ZTYPECODE_INDEXED,	  /* count; blocklengths, displacements */
	ZTYPECODE_HINDEXED,	  /* count; blocklengths, displacements */
	ZTYPECODE_INDEXED_BLOCK,  /* count, blocklength; displacements */
	ZTYPECODE_HINDEXED_BLOCK, /* count, blocklength; displacements */
	ZTYPECODE_STRUCT,	  /* count; blocklengths, displacements; as many old types */
	ZTYPECODE_SUBARRAY,	  /* dimensions, order (0: C, 1: Fortran); sizes, subsizes, starts */
	ZTYPECODE_DARRAY,	  /* dimensions, order, processes, rank; sizes, distributions (0: block, 1: cyclic,
				     2: none), their arguments (-1: default), processes */
	ZTYPECODE_RESIZED,	  /* lower bound, extent */
	ZTYPECODE_OPS
};

struct ztypecode_form {
	uint8_t heads, columns;		  /* how many */
	uint8_t head_bytes, column_bytes; /* bit mask: these are MPI_Aint in the variant with int counts */
};
extern const struct ztypecode_form ztypecode_args_forms[ZTYPECODE_OPS];

struct ztypecode_args {
	enum ztypecode_op op;
	MPI_Count head[ZTYPECODE_HEADS_MAX];
	size_t items;	 /* numbers in each column */
	MPI_Count *item; /* columns * items, column after column */
	size_t nold;	 /* old types: 0, 1, or items of a struct */
	size_t *old;	 /* numbers of nodes */
};

/* Room for what head[0], if it counts items, says: false if there is none, or it is negative. To be freed with
 * ztypecode_args_free in either case; head and op are set. */
bool ztypecode_args_alloc(struct ztypecode_args *);
void ztypecode_args_free(struct ztypecode_args *);
static inline MPI_Count *ztypecode_column(const struct ztypecode_args *a, unsigned column)
{
	return a->item + column * a->items;
}

/* A node that is built. */
struct ztypecode_node {
	struct ztypecode_type type;
	unsigned depth;
	bool owned; /* to be freed */
	bool mixed; /* of several predefined datatypes */
};

/* Native datatypes, not committed. Nothing is native MPI's to refuse or to compute wrong that could be seen before.
 * False: the arguments make no sense, or there is no such datatype here. */
bool ztypecode_make(struct ztypecode_node *, const struct ztypecode_args *, const struct ztypecode_node *nodes);
/* Would it? What may be done with every old type of these arguments is within bounds. */
bool ztypecode_args_check(const struct ztypecode_args *, const struct ztypecode_node *nodes);
/* malloc()ed; MPI_ERR_TYPE, MPI_ERR_NO_MEM or what native MPI says. */
int ztypecode_write(MPI_Datatype, uint8_t **code, size_t *len);
/* The last node, not committed; the others are freed. */
bool ztypecode_read(struct ztypecode_node *, const uint8_t *code, size_t len);

/* Places in the table of predefined datatypes: -1 for others, MPI_DATATYPE_NULL for places without one here. */
int ztypecode_named_find(MPI_Datatype);
MPI_Datatype ztypecode_named(MPI_Count place);

#endif
