/* SPDX-License-Identifier: BSD-3-Clause */
/* Use of attached buffers, see attached.h. */
#include "libzip/stream/attached.h"

#include "libzip/stream/op.h"
#include "libzip/world/comm.h"

struct zattached zattached_process;

struct zattached *zattached_of(const struct zcomm *c)
{
	return c->attached && c->attached->bytes > 0 ? c->attached : &zattached_process;
}

bool zattached_has_room(const struct zattached *a, uint64_t bytes)
{
	return a->bytes > 0 && (uint64_t)a->in_use + bytes <= (uint64_t)a->bytes;
}

/* Small messages that go into their stream at once do not count: the window of the stream limits them. */
void zattached_take(struct zop *op)
{
	if (op->mode != ZSEND_BUFFERED)
		return;
	op->attached = zattached_of(op->req.comm);
	op->in_buffer = (MPI_Count)op->data.bytes + MPI_BSEND_OVERHEAD;
	op->attached->in_use += op->in_buffer;
}

void zattached_give(struct zop *op)
{
	if (op->in_buffer == 0)
		return;
	op->attached->in_use -= op->in_buffer;
	op->attached->is_full = false;
	op->in_buffer = 0;
}
