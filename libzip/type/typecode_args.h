/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors of datatypes, with arguments in one form for all variants of a constructor, and the check of their
 * bounds.
 */
#ifndef ZIP_LIBZIP_TYPECODE_ARGS_H
#define ZIP_LIBZIP_TYPECODE_ARGS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/type/typecode.h"

#define ZTYPECODE_DEPTH_MAX 256 /* levels of nesting; native MPI frees nested datatypes by recursion */
#define ZTYPECODE_REACH_MAX ((MPI_Count)PTRDIFF_MAX / 4) /* bytes; leaves room for sums of two, and for alignment */
#define ZTYPECODE_NODES_MAX 16384			 /* native MPI needs some KiB for each */
#define ZTYPECODE_HEADS_MAX 4

/* Constructors; the numbers are on the wire. Comments: heads; columns */
enum ztypecode_op {
	ZTYPECODE_NAMED,	  /* place in the table */
	ZTYPECODE_F90_REAL,	  /* digits, range; -1 for MPI_UNDEFINED */
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
	uint8_t heads, columns;		  /* number of heads */
	uint8_t head_bytes, column_bytes; /* bit mask: columns that are MPI_Aint in the variant with int counts */
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

/* Makes room for as many items as head[0] says, if it counts items; head and op are set. False: no memory, or the
 * number is negative. In either case the caller calls ztypecode_args_free. */
bool ztypecode_args_alloc(struct ztypecode_args *);
void ztypecode_args_free(struct ztypecode_args *);
static inline MPI_Count *ztypecode_args_column(const struct ztypecode_args *a, unsigned column)
{
	return a->item + column * a->items;
}

/* A node that is built. */
struct ztypecode_node {
	struct ztypecode_type type;
	unsigned depth;
	bool owned; /* freed by the owner of the node */
	bool mixed; /* made of several predefined datatypes */
};

/* Would ztypecode_make (typecode_make.h) build it? Everything that the constructor may do with the old types is within
 * bounds. */
bool ztypecode_args_check(const struct ztypecode_args *, const struct ztypecode_node *nodes);

#endif
