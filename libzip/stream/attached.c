/* SPDX-License-Identifier: BSD-3-Clause */
/* Use of attached buffers, see attached.h. */
#include "libzip/stream/attached.h"

#include <stdlib.h>

#include "libzip/stream/op.h"
#include "libzip/world/comm.h"

struct zattached zattached_process = {.session = MPI_SESSION_NULL};

static struct zattached *of_sessions;

struct zattached *zattached_of_session(MPI_Session session, bool make)
{
	struct zattached *a = of_sessions;

	while (a && a->session != session)
		a = a->next;
	if (a || !make)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->session = session;
	a->next = of_sessions;
	return of_sessions = a;
}

struct zattached *zattached_of(const struct zcomm *c)
{
	if (c->attached && c->attached->bytes > 0)
		return c->attached;
	return c->session && c->session->bytes > 0 ? c->session : &zattached_process;
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
