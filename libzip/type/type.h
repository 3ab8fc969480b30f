/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptions of datatypes, by handle, in a cache of each station. Under the shim's lock.
 *
 * "Dense" means that the type map in its order is one piece of memory: an indexed type that lists its blocks backwards
 * has the size of its extent and is not dense, nor is MPI_DOUBLE_INT.
 */
#ifndef ZIP_LIBZIP_TYPE_H
#define ZIP_LIBZIP_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/type/signature.h"

struct ztype {
	MPI_Datatype handle;
	bool valid;	/* cache entry in use */
	int error;	/* MPI_ERR_NO_MEM: the description is not complete */
	bool dense;	/* one element is one piece */
	bool builtin;	/* predefined: needs no reference of ours */
	bool committed; /* stays so while the handle is this type's */
	MPI_Count size; /* bytes of data of one element */
	MPI_Count extent;
	MPI_Count start;	     /* dense: first byte, relative to the buffer address */
	MPI_Count wire_size;	     /* bytes of one element on the wire: size, or the size after conversion */
	bool converted;		     /* the parts differ in representation, and the type is more than bytes */
	struct zsignature signature; /* if converted */
};

/* The description of a datatype, valid until the next call; never NULL. The handle must be that of a datatype
 * (ztype_check), or MPI_DATATYPE_NULL, which may describe no elements. */
const struct ztype *ztype_find(MPI_Datatype);
/* For MPI_Type_free: the handle may come back as another type. */
void ztype_forget(MPI_Datatype);
void ztype_forget_here(MPI_Datatype); /* a type that only this station knows */
/* Is it the handle of a datatype, by its bits? MPI_SUCCESS or MPI_ERR_TYPE. */
int ztype_check(MPI_Datatype);
/* Is the type committed, for communication? MPICH checks it where there are elements to send or receive, and in some
 * collectives always; callers do the same. */
bool ztype_is_committed(MPI_Datatype);
/* Is the buffer of some bytes a null pointer? MPI_BOTTOM is a null pointer, too, but means nothing with a datatype
 * that begins at 0. MPICH refuses the same buffers. */
bool ztype_is_nowhere(const void *buf, MPI_Count count, MPI_Datatype);

#endif
