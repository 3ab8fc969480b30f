/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes described for another process, which may have another MPI library of the same ABI, other widths of numbers
 * or another byte order, and builds the same datatype there: the target of a one-sided operation knows no more of its
 * datatype than that (MPI-4.0 section 12.3). Under the shim's lock, by who has the library as a whole.
 *
 * A description has a node for each different datatype that the datatype is made of, each after those that it is made
 * of itself; the last one is the datatype. A node is a byte, which says how it was made (enum ztypecode_op in
 * typecode_parts.h), and numbers: first those that it always has (heads), then columns of as many numbers as the first
 * head says, each number as the difference from the one before it in its column; then the old types, as the numbers of
 * their nodes (0 is the first). Numbers are zigzag (0, -1, 1, -2, ...) in little-endian groups of 7 bits, of which each
 * but the last has the top bit set. Predefined datatypes are places in a table of names (typecode_named.c).
 * Displacements in elements stay elements, and those in bytes bytes.
 *
 * It depends on nothing but how the datatype was made: the same in all processes, and by constructors of either size of
 * counts. What makes no difference is left out (duplicates, one element in a row).
 */
#ifndef ZIP_LIBZIP_TYPECODE_H
#define ZIP_LIBZIP_TYPECODE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define ZTYPECODE_LEN_MAX ((size_t)1 << 26) /* bytes of a description; longer ones are neither made nor read */

struct ztypecode {
	const uint8_t *code;
	size_t len; /* bytes: 2 for predefined datatypes */
};

/* The description of a datatype; kept, so that it costs a look-up where it is asked for again. Valid until the next
 * call here. MPI_SUCCESS, MPI_ERR_TYPE (no datatype; or one that cannot travel: nested too deep, too long to describe,
 * or reaching over more than an eighth of the address space), MPI_ERR_NO_MEM, or MPI_ERR_INTERN: native MPI would not
 * build it again. */
int ztypecode_encode(MPI_Datatype, struct ztypecode *);
/* MPI_Type_free: the handle's number may come back as another datatype. ztypehold_release does not call it: who asks
 * here about a datatype of ours says so when it is freed. */
void ztypecode_forget(MPI_Datatype);

struct ztypecode_type {
	MPI_Datatype handle;  /* committed; not the caller's to free */
	MPI_Datatype element; /* the one predefined datatype that all of it consists of; MPI_DATATYPE_NULL if there are
				 several, or no data at all (size 0). For those of the MPI_Type_create_f90 family it is
				 the one of MPI_Type_match_size. */
	MPI_Count elements;   /* of these in one of the datatype; 0 if there is no such one */
	MPI_Count size, true_lb, true_extent, lb, extent; /* bytes */
};

/* The datatype that was described, built if it is not there from before; to be given back with ztypecode_release. NULL:
 * the description is wrong (any bytes may come), says something that native MPI here does not have, or no memory. */
const struct ztypecode_type *ztypecode_decode(const uint8_t *code, size_t len);
void ztypecode_release(const struct ztypecode_type *);

/* Forgets everything, also what was not given back. */
void ztypecode_fini(void);

#endif
