/* SPDX-License-Identifier: BSD-3-Clause */
/* The sends that a multicast consists of, see multicast_send.h. */
#include "libzip/bridge/multicast_send.h"

#include "common/base/clock.h"
#include "libzip/bridge/bridge.h"
#include "libzip/bridge/op_start.h"

void zmulticast_send_alone(struct zmulticast *m, int dest)
{
	struct zreq *r;
	int rc = zbridge_isend(m->req.comm, m->context, m->buf, m->count, m->type, dest, m->tag, ZSEND_STANDARD, &r);
	if (rc == MPI_SUCCESS)
		m->sends[m->nsends++] = r;
	else
		m->error = rc;
}

/* Makes one more send, not yet started. NULL: none, and m has the error. */
struct zop *zmulticast_send_make(struct zmulticast *m, int dest)
{
	const struct zop_args args = {m->req.comm, m->context, (void *)(uintptr_t)m->buf, m->count, m->type, dest,
		m->tag};
	struct zop *op;
	int rc = zop_start_make(&op, ZOP_SEND, &args, false);
	if (rc != MPI_SUCCESS) {
		m->error = rc;
		return NULL;
	}
	op->mode = ZSEND_STANDARD;
	m->sends[m->nsends++] = &op->req;
	return op;
}

/* Starts the send made last. If that fails it is none of the sends any more. */
void zmulticast_send_start(struct zmulticast *m, struct zop *op)
{
	int rc = zop_start(op);
	if (rc == MPI_SUCCESS)
		return;
	m->error = rc;
	m->nsends--;
	if (op->t.tied)
		ztied_part(op);
	zreq_release(&op->req);
}

/* Is it still worth waiting for receivers that cannot have the message yet? */
bool zmulticast_send_is_patient(struct zmulticast *m)
{
	int64_t now = zclock_ns();
	if (m->uneven_ns == 0)
		m->uneven_ns = now;
	return now - m->uneven_ns < m->patience_ns;
}
