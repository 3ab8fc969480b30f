/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes of the buffer that the application has attached (MPI_Buffer_attach) the bridged sends use. These sends
 * have copies of their own; they only count. All stations share the one buffer. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ATTACHED_H
#define ZIP_LIBZIP_ATTACHED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct zop;

extern MPI_Count zattached_bytes; /* size of the attached buffer; 0: there is none */

extern _Atomic bool zattached_is_full; /* a wait for room was in vain, and nothing has become free since */

/* Is there room for a message of so many bytes beside the bridged sends that are under way? Native sends do not count:
 * native MPI has the same buffer for them. */
bool zattached_has_room(uint64_t bytes);
/* A buffered send of the application begins to use the buffer, or ends. No effect on other sends (ZSEND_DETACHED). */
void zattached_take(struct zop *);
void zattached_give(struct zop *);

#endif
