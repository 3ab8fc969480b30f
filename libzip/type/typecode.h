/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptions of datatypes for another process. That process builds the same datatype. It may have another MPI
 * library of the same ABI, other widths of numbers or another byte order. The target of a one-sided operation knows no
 * more of its datatype than the description (MPI-4.0 section 12.3). Under the shim's lock, by a thread that has the
 * library as a whole.
 *
 * A description has a node for each different datatype that the datatype is made of. A node follows the nodes of its
 * old types; the last node is the datatype. A node is a byte that names the constructor (enum ztypecode_op in
 * typecode_args.h), and numbers. First come the numbers that the constructor always has (heads). Then come columns of
 * as many numbers as the first head says; a number is stored as the difference from the one before it in its column.
 * Then come the old types, as the numbers of their nodes (0 is the first). Numbers are zigzag (0, -1, 1, -2, ...) in
 * little-endian groups of 7 bits; the top bit is set in each group but the last. Predefined datatypes are places in a
 * table of names (typecode_named.c). Displacements in elements stay in elements, and displacements in bytes stay in
 * bytes.
 *
 * The description depends on nothing but how the datatype was made. It is the same in all processes, and for
 * constructors of either size of counts. Differences without effect are left out (duplicates, one element in a row).
 */
#ifndef ZIP_LIBZIP_TYPECODE_H
#define ZIP_LIBZIP_TYPECODE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define ZTYPECODE_LEN_MAX ((size_t)1 << 26) /* bytes; longer descriptions are neither made nor read */

struct ztypecode {
	const uint8_t *code;
	size_t len; /* bytes: 2 for predefined datatypes */
};

/* The description of a datatype. It is kept, so that a second call costs a look-up. Valid until the next call here.
 * MPI_SUCCESS, MPI_ERR_NO_MEM, MPI_ERR_INTERN (native MPI would not build it again) or MPI_ERR_TYPE: no datatype, or
 * one that cannot travel, because it is nested too deep, too long to describe, or reaches over more than an eighth of
 * the address space. */
int ztypecode_encode(MPI_Datatype, struct ztypecode *);
/* For MPI_Type_free: the handle may come back as another datatype. ztypehold_release does not call it; a caller that
 * asks here about a datatype of the library calls it when that datatype is freed. */
void ztypecode_forget(MPI_Datatype);

struct ztypecode_type {
	MPI_Datatype handle;  /* committed; the caller does not free it */
	MPI_Datatype element; /* the predefined datatype that all of it consists of; MPI_DATATYPE_NULL if there are
				 several, or no data at all (size 0). For the MPI_Type_create_f90 family the one of
				 MPI_Type_match_size. */
	MPI_Datatype leaf;    /* element as the description names it: for the MPI_Type_create_f90 family a datatype
				 of that family. MPICH takes only it as the origin's in an accumulate (4.2, 5.0) */
	MPI_Count elements;   /* number of these in one of the datatype; 0 if element is MPI_DATATYPE_NULL */
	MPI_Count size, true_lb, true_extent, lb, extent; /* bytes */
};

/* The datatype of a description, built if it is not there from before. The caller gives it back with
 * ztypecode_release. NULL: the description is wrong (any bytes may come), native MPI here lacks something in it, or no
 * memory. */
const struct ztypecode_type *ztypecode_decode(const uint8_t *code, size_t len);
void ztypecode_release(const struct ztypecode_type *);

/* Forgets all datatypes, also those not given back. */
void ztypecode_fini(void);

#endif
