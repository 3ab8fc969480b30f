/* SPDX-License-Identifier: BSD-3-Clause */
/* Use of the attached buffer, see attached.h. */
#include "libzip/stream/attached.h"

#include "libzip/stream/op.h"

MPI_Count zattached_bytes;
_Atomic bool zattached_is_full;

static _Atomic MPI_Count in_use; /* bytes of bridged messages */

bool zattached_has_room(uint64_t bytes)
{
	return zattached_bytes > 0 && (uint64_t)in_use + bytes <= (uint64_t)zattached_bytes;
}

/* Small messages that go into their stream at once do not count: the window of the stream limits them. */
void zattached_take(struct zop *op)
{
	if (op->mode != ZSEND_BUFFERED)
		return;
	op->in_buffer = (MPI_Count)op->data.bytes + MPI_BSEND_OVERHEAD;
	in_use += op->in_buffer;
}

void zattached_give(struct zop *op)
{
	if (op->in_buffer == 0)
		return;
	in_use -= op->in_buffer;
	op->in_buffer = 0;
	zattached_is_full = false;
}
