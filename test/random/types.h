/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random datatypes. A unit is a piece of data of which all ranks know the signature: so many of this type, then so many
 * of that. Every rank lays it out in its own way: vectors of indexed types of structures, with gaps, in any order.
 */
#ifndef ZIP_RANDOM_TYPES_H
#define ZIP_RANDOM_TYPES_H

#include <mpi.h>
#include <stddef.h>

#include "draw.h"

#define UNIT_PARTS 3
struct unit {
	int n;
	MPI_Datatype basic[UNIT_PARTS];
	int count[UNIT_PARTS];
};
/* Draws a unit of about so many bytes at most, and of one element at least. */
struct unit types_unit(struct draw *d, int most_bytes);
int types_unit_size(const struct unit *unit);
/* Whether it has one predefined type only, and not one of pairs. */
bool types_is_plain(const struct unit *unit);
/* Makes it plain if so many units are a message of more than 8 KB: MPICH 4.0.2 receives others short, and reports that
 * they were truncated. */
void types_unit_limit(struct unit *unit, int units);
/* Draws a committed datatype of this many units. The caller frees it with types_free. */
MPI_Datatype types_layout(struct draw *d, const struct unit *unit, int units);
/* Draws a layout of this many units as a count of one datatype. */
MPI_Datatype types_pieces(struct draw *d, const struct unit *unit, int units, int *count);
/* Frees a datatype unless it is a predefined one. */
void types_free(MPI_Datatype *type);

/*
 * Bytes with a margin. Received bytes, gaps and margin are traced together, so nothing may write where it should not.
 * All gaps have the same content, because MPICH 4.0.2 copies the gaps of some types, too.
 */
#define BUFFER_MARGIN 32 /* bytes on each side */
struct buffer {
	char *base;
	size_t len;
	void *at;   /* the address for MPI */
	char *data; /* not 0 where data are; NULL: everywhere */
};
/* Makes a buffer for displacements from low to high (bytes), all data. */
struct buffer buffer_make(MPI_Aint low, MPI_Aint high);
/* Makes one with room for count elements, all gaps. */
struct buffer buffer_spanning(MPI_Datatype type, MPI_Aint count);
/* Makes one for count elements, and fills it from the seed. */
struct buffer buffer_for(MPI_Datatype type, MPI_Aint count, uint64_t seed);
/* Says that there are count elements at this displacement, in bytes. What no call has named is a gap. */
void buffer_mark(struct buffer *b, MPI_Aint displ, MPI_Datatype type, MPI_Aint count);
void buffer_fill(struct buffer *b, uint64_t seed);
void buffer_trace(const struct buffer *b, const char *what);
uint64_t buffer_hash(const struct buffer *b);
void buffer_free(struct buffer *b);

#endif
