/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of the application as bytes on the wire. Dense data (type.h) stay in the user's buffer; native MPI packs and
 * unpacks all others. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_DATA_H
#define ZIP_LIBZIP_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/type/type.h"

struct zdata {
	uint8_t *dense; /* address of the bytes; NULL: they must be packed */
	uint64_t bytes; /* on the wire */
	bool converted; /* the bytes are in the wire's representation, not the native one */
};

/* Describes count elements. MPI_SUCCESS, MPI_ERR_COUNT where their size overflows, or MPI_ERR_NO_MEM. */
int zdata_view(struct zdata *, const void *buf, MPI_Count count, MPI_Datatype);
/* Writes the wire bytes of count elements into out, as many as zdata_view says. MPI_SUCCESS or an error class. */
int zdata_pack(uint8_t *out, uint64_t bytes, const void *buf, MPI_Count count, MPI_Datatype);
/* The reverse. bytes may be fewer than count elements take, and may end within an element. Changes nothing but the
 * predefined elements that the bytes cover as a whole. MPI_ERR_TYPE where they end within such an element; dense data
 * take its bytes without an error, as in native MPI. */
int zdata_unpack(const uint8_t *in, uint64_t bytes, void *buf, MPI_Count count, MPI_Datatype);
/* The same without conversion: bytes in this part's representation; pack needs size * count of them. */
int zdata_pack_native(uint8_t *out, uint64_t bytes, const void *buf, MPI_Count count, MPI_Datatype);
int zdata_unpack_native(const uint8_t *in, uint64_t bytes, void *buf, MPI_Count count, MPI_Datatype);
/* The count of native bytes for a status, when so many wire bytes have come: those of whole predefined elements. */
MPI_Count zdata_native_bytes(MPI_Datatype, uint64_t wire_bytes);
MPI_Count zdata_whole_bytes(MPI_Datatype, uint64_t native_bytes); /* the same for native bytes that have come */

#endif
