/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion between the representations of different parts. The type map travels in its order, without gaps. Integers
 * and floating-point numbers are big-endian as in external32 (MPI-4.0 section 14.5.2), except that long and unsigned
 * long have 8 bytes, so that nothing is cut off where both sides have 8. long double has no portable form here and
 * travels as it is; so does MPI_PACKED, whose numbers are not known. MPICH 4.0's own external32 is no help: it ends
 * the process for pair types, MPI_WCHAR, structs and empty types.
 */
#ifndef ZIP_LIBZIP_SIGNATURE_H
#define ZIP_LIBZIP_SIGNATURE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct zsignature_run {
	uint8_t native, wire; /* bytes of one number */
	uint8_t is_signed;
	uint64_t count;
};

struct zsignature { /* of one element of a datatype */
	struct zsignature_run *run;
	size_t nruns, room;
	uint64_t native_bytes, wire_bytes;
};

/* MPI_SUCCESS or an error class; on success the caller calls zsignature_free. */
int zsignature_make(struct zsignature *, MPI_Datatype);
void zsignature_free(struct zsignature *);

/* Converts count elements of packed native bytes. */
void zsignature_encode(const struct zsignature *, uint8_t *wire, const uint8_t *native, uint64_t count);
/* Converts wire bytes. They may end within an element, or within a number, which then is not converted. Returns the
 * number of wire bytes that were converted. */
uint64_t zsignature_decode(const struct zsignature *, uint8_t *native, const uint8_t *wire, uint64_t wire_bytes);
/* The number of native bytes that decode would write. */
uint64_t zsignature_native_bytes(const struct zsignature *, uint64_t wire_bytes);

#endif
