/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of the collectives: temporary buffers, copies, packing and reductions, for any datatype.
 *
 * Where the contributions of several members travel in one message they do so packed, in the
 * representation of the wire: native, or external32 when the parts differ. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_DATA_H
#define ZIP_LIBZIP_COLL_DATA_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"

MPI_Count zbuf_size(MPI_Datatype); /* bytes of one element, native */
MPI_Aint zbuf_extent(MPI_Datatype);
/* Element number index of a buffer. */
static inline void *zbuf_at(const void *buf, MPI_Count index, MPI_Aint extent)
{
	return (char *)buf + index * extent;
}
/* Memory is the packed representation: elements lie side by side without gaps. */
bool zbuf_is_contiguous(MPI_Datatype);
/* Room for count elements, in the schedule's memory; *buf is the address to use with the datatype.
 */
int zbuf_temp(struct zsched *, MPI_Count count, MPI_Datatype, void **buf);
/* Bytes from one vector of count elements to the next one, neither of which has a byte of the other one. Those of a
 * datatype whose elements interleave, as the columns of a matrix do, cannot lie as one vector of all elements would. */
MPI_Aint zbuf_pitch(MPI_Count count, MPI_Datatype);
bool zbuf_interleaves(MPI_Datatype);
/* n of them. */
int zbuf_temps(struct zsched *, MPI_Count count, MPI_Datatype, int n, void ***bufs);
/* Copies count elements between buffers of the same datatype that do not overlap; gaps may be
 * copied too. */
void zbuf_copy_span(const void *from, void *to, MPI_Count count, MPI_Datatype);
/* Copies between different datatypes of the same signature; gaps of the target stay as they are. */
int zbuf_copy(struct zsched *, const void *from, MPI_Count fromcount, MPI_Datatype fromtype, void *to,
	MPI_Count tocount, MPI_Datatype totype);

/* Packed for the wire: */
MPI_Count zbuf_wire_bytes(MPI_Count count, MPI_Datatype);
/* Packs to where at points (which has zbuf_wire_bytes of room). MPI_SUCCESS or an error class. */
int zbuf_pack(const void *buf, MPI_Count count, MPI_Datatype, char *at);
int zbuf_unpack(const char *at, void *buf, MPI_Count count, MPI_Datatype);
/* True if the buffer itself is its packed form, so that nothing need be copied. */
bool zbuf_is_wire(MPI_Datatype);
/* Where the packed form is to be: the buffer itself if possible, otherwise memory of the schedule,
 * not filled yet. */
int zbuf_wire(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, char **wire, MPI_Count *bytes);

/* inout[i] = in[i] op inout[i] : in is the operand of the lower ranks. */
int zbuf_reduce(const void *in, void *inout, MPI_Count count, MPI_Datatype, MPI_Op);

#endif
