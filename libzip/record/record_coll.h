/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in the recorder: the bytes that a call hands in and sends. Under the recorder's lock. */
#ifndef ZIP_LIBZIP_RECORD_COLL_H
#define ZIP_LIBZIP_RECORD_COLL_H

#include "libzip/record/record.h"
#include "libzip/record/record_comm.h"
#include "libzip/record/record_table.h"

/* Receives each pair of a call: bytes in messages to a rank of the communicator (perhaps MPI_PROC_NULL). */
typedef void zrecord_pair(void *ctx, const struct zrecord_comm *, int peer, uint64_t bytes, uint64_t messages);

/* Counts a call: sum.calls is 1, sum.units and sum.sends as the model needs them. Emits the pairs of kinds that the
 * model does not know; zrecord_coll_expand emits the pairs of the others. Leaves out pairs without bytes. */
void zrecord_coll_count(const struct zrecord_args *, struct zrecord_comm *, struct zrecord_sum *, zrecord_pair *,
	void *ctx);
void zrecord_coll_expand(const struct zrecord_comm *, const struct zrecord_sum *, zrecord_pair *, void *ctx);

#endif
