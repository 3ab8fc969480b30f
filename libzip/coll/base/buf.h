/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of the collectives, for any datatype: sizes, temporary buffers, copies, packing and reductions. Where the
 * contributions of several members travel in one message they are packed in the representation of the wire, which is
 * native, or external32 where the parts differ. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_BUF_H
#define ZIP_LIBZIP_BUF_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/sched.h"

/* Bytes of one element in the native representation, without gaps. */
MPI_Count zbuf_size(MPI_Datatype);
MPI_Aint zbuf_extent(MPI_Datatype);
/* Element number index of a buffer. */
static inline void *zbuf_at(const void *buf, MPI_Count index, MPI_Aint extent)
{
	return (char *)buf + index * extent;
}
/* Do elements lie side by side without gaps, so that memory is the packed representation? */
bool zbuf_is_contiguous(MPI_Datatype);

/* Room for count elements in the schedule's memory. *buf is the address to use with the datatype. MPI_SUCCESS or an
 * error class, as for all functions here that return int. */
int zbuf_temp(struct zsched *, MPI_Count count, MPI_Datatype, void **buf);
/* n such buffers. */
int zbuf_temps(struct zsched *, MPI_Count count, MPI_Datatype, int n, void ***bufs);
/* The bytes from one vector of count elements to the next, so that neither has a byte of the other. */
MPI_Aint zbuf_pitch(MPI_Count count, MPI_Datatype);
/* Do the elements of this datatype interleave, as the columns of a matrix do? Then several vectors cannot lie behind
 * each other as one long vector. */
bool zbuf_interleaves(MPI_Datatype);

/* Copies count elements between buffers of the same datatype that do not overlap. It may copy gaps, too. */
void zbuf_copy_span(const void *from, void *to, MPI_Count count, MPI_Datatype);
/* Copies between different datatypes of the same signature. Gaps of the target stay as they are. */
int zbuf_copy(struct zsched *, const void *from, MPI_Count fromcount, MPI_Datatype fromtype, void *to,
	MPI_Count tocount, MPI_Datatype totype);

/* Bytes of count elements when they are packed for the wire. */
MPI_Count zbuf_wire_bytes(MPI_Count count, MPI_Datatype);
/* Packs to, and unpacks from, zbuf_wire_bytes bytes. */
int zbuf_pack(const void *buf, MPI_Count count, MPI_Datatype, char *at);
int zbuf_unpack(const char *at, void *buf, MPI_Count count, MPI_Datatype);
/* Is the buffer its own packed form, so that nothing need be copied? */
bool zbuf_is_wire(MPI_Datatype);
/* A place for the packed form: the buffer itself if that is possible, else memory of the schedule, which is not filled
 * yet. */
int zbuf_wire(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, char **wire, MPI_Count *bytes);

/* inout[i] = in[i] op inout[i]: in is the operand of the lower ranks. */
int zbuf_reduce(const void *in, void *inout, MPI_Count count, MPI_Datatype, MPI_Op);

#endif
